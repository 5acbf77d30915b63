// Failures of PostgreSQL: what it says, and whether the data is the reason, which makes a failure
// permanent.

/** Classes of SQLSTATE: data exception, integrity constraint violation, program limit exceeded. */
const REFUSED_CLASSES: ReadonlySet<string> = new Set(['22', '23', '54']);

export const isRefusedData = (error: unknown): boolean =>
  error instanceof Error &&
  'code' in error &&
  typeof error.code === 'string' &&
  error.code.length === 5 &&
  REFUSED_CLASSES.has(error.code.slice(0, 2));

/** Knex puts the statement, which may have several lines, in front of what pg says. */
export const withoutStatement = (message: string): string => message.split(' - ').at(-1) ?? message;

/**
 * What PostgreSQL says; undefined for an error of another kind. Knex gives a failure of its lock of
 * migrations no severity.
 */
export const answerOfPostgres = (error: unknown): string | undefined =>
  error instanceof Error && ('severity' in error || error.name === 'MigrationLocked')
    ? withoutStatement(error.message)
    : undefined;
