// Settings of PostgreSQL that each connection sets for itself, because the role of an operator, or
// its database, may have others.

/** Names as in pg_settings. */
export const PINNED_SETTINGS = {
  // Forms of values in answers: `pg` reads times only in the style ISO, and the service reads days
  // as `YYYY-MM-DD`.
  DateStyle: 'ISO, MDY',
  IntervalStyle: 'postgres',
  bytea_output: 'hex',
  extra_float_digits: '1',
  default_transaction_isolation: 'read committed',
  // `col = NULL` is never true.
  transform_null_equals: 'off',
  // The rewrite of a purge takes minutes, and the process that works on erasures has its lock in an
  // idle session.
  statement_timeout: '0',
  lock_timeout: '0',
  idle_session_timeout: '0',
  // A machine that vanishes leaves its connections behind, with their locks. By default, the server
  // notices after two hours; so after a minute and a half. Without TCP it ignores these.
  tcp_keepalives_idle: '60',
  tcp_keepalives_interval: '10',
  tcp_keepalives_count: '3',
} as const satisfies Readonly<Record<string, string>>;

const VALUES = Object.entries(PINNED_SETTINGS).map(([name, value]) => `('${name}', '${value}')`);

/** One statement. A server that knows no such setting does without. */
export const PIN_SETTINGS = `SELECT count(set_config(name, value, false))
  FROM (VALUES ${VALUES.join(', ')}) AS pinned (name, value) JOIN pg_settings USING (name)`;
