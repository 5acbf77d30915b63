// Settings that no process reads: misspelt, renamed or removed names in .env and the environment,
// and values of .env that end before a #. config.ts refuses wrong values; these have no effect.
import { parseEnv } from 'node:util';
import { editDistance } from './edit-distance.js';

/** What has taken the place of a setting of an earlier version. */
const REPLACED: Readonly<Record<string, string>> = {
  CLICKHOUSE_CLUSTER: 'replicas are added by npm run shards',
  INGEST_FLUSH_DELAY_MS: 'it is now INGEST_FLUSH_DELAY_MIN_MS and INGEST_FLUSH_DELAY_MAX_MS',
  INGEST_LANES: 'it is now INGEST_PARTITIONS',
  QUERY_QUEUE_MAX: 'it is now QUERY_QUEUE_PER_PROJECT_MAX',
};

/** Names in .env that other programs read: Node.js, npm, libraries of C, docker compose. */
const OF_OTHERS =
  /^(?:NODE_\w+|UV_\w+|npm_\w+|COMPOSE_\w+|PG\w+|TZ|PATH|SSL_CERT_\w+|(?:POSTGRES|REDIS|CLICKHOUSE|GRAFANA)_PASSWORD|(?:HTTPS?|NO|ALL)_PROXY)$/i;

const TYPOS_MAX = 2;
// In a short name of another program, two letters make any name.
const LENGTH_MIN = 8;
// A comment has a blank before it; parseEnv() ends an unquoted value at any #.
const CUT_VALUE = /^\s*(?:export\s+)?(?<name>\w+)\s*=\s*(?<value>[^\s"'`#](?:[^\n#]*[^\s#])?)#/gm;

// parseEnv() reads a line without = and the next one that has it as one name.
const WITHOUT_EQUALS = /^(?<name>\w+)[^\w\n].*\n(?:.*\n)*(?<next>.*)$/;

export interface SettingSources {
  readonly known: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The text of .env; undefined without that file. */
  readonly file?: string | undefined;
}

/**
 * One sentence for each. Of .env every unknown name; of the environment, which has names of other
 * programs, only one that is nearly that of a setting which is not set.
 */
export function findIgnoredSettings({ known, environment, file }: SettingSources): string[] {
  const inFile = parseEnv(file ?? '');
  const ofFile = Object.keys(inFile).flatMap((name) => {
    if (known.includes(name) || OF_OTHERS.test(name) || name.startsWith('#')) return [];
    const swallowed = WITHOUT_EQUALS.exec(name)?.groups;
    if (swallowed !== undefined) {
      return [`.env: ${swallowed.name} has no = behind it, so that ${swallowed.next} below it is ignored as well`];
    }
    return [`.env: ${describe(name, REPLACED[name] ?? findNearest(name, known))}`];
  });
  const ofEnvironment = Object.keys(environment).flatMap((name) => {
    if (known.includes(name) || OF_OTHERS.test(name) || Object.hasOwn(inFile, name)) return [];
    const unset = known.filter((setting) => !environment[setting]);
    const reason = REPLACED[name] ?? (name.length < LENGTH_MIN ? undefined : findNearest(name, unset));
    return reason === undefined ? [] : [describe(name, reason)];
  });
  const cut = [...(file ?? '').matchAll(CUT_VALUE)].flatMap(({ groups: { name = '', value = '' } = {} }) =>
    inFile[name] === value ? [`.env: the value of ${name} ends before #: quote it if the rest belongs to it`] : [],
  );
  return [...ofFile, ...ofEnvironment, ...cut];
}

const describe = (name: string, reason: string | undefined): string =>
  `${name} is no setting and is ignored${reason === undefined ? '' : `; ${reason}`}`;

function findNearest(name: string, known: readonly string[]): string | undefined {
  const wanted = name.toUpperCase();
  const distances = known.map((setting) => ({ setting, typos: editDistance(wanted, setting, TYPOS_MAX) }));
  const [nearest] = distances.sort((a, b) => a.typos - b.typos);
  return nearest === undefined || nearest.typos > TYPOS_MAX ? undefined : `nearest is ${nearest.setting}`;
}
