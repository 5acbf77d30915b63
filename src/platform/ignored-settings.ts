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

/** A value in quotes may have several lines. */
const QUOTED_VALUE = /=[^\S\n]*(?<quote>["'`])[\s\S]*?\k<quote>/g;

// Node.js 20 reads a line without = and the next one that has it as one name, drops such lines at
// the end, and ends at a line that begins with =. Later ones skip all of these.
const SKIPS_LINES = parseEnv('A\nB=').B !== undefined;

/** Behind the last line. */
const END = 'END_OF_FILE';

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
export function findIgnoredSettings({ known, environment, file = '' }: SettingSources): string[] {
  const inFile = parseEnv(file);
  const ofFile = Object.keys(inFile).flatMap((name) => {
    if (known.includes(name) || OF_OTHERS.test(name) || name.startsWith('#') || name.includes('\n')) return [];
    return [`.env: ${describe(name, REPLACED[name] ?? findNearest(name, known))}`];
  });
  const ofLines = (SKIPS_LINES ? findSkippedLines(file) : findJoinedLines(file)).map((sentence) => `.env: ${sentence}`);
  const ofEnvironment = Object.keys(environment).flatMap((name) => {
    if (known.includes(name) || OF_OTHERS.test(name) || Object.hasOwn(inFile, name)) return [];
    const unset = known.filter((setting) => !environment[setting]);
    const reason = REPLACED[name] ?? (name.length < LENGTH_MIN ? undefined : findNearest(name, unset));
    return reason === undefined ? [] : [describe(name, reason)];
  });
  const cut = [...file.matchAll(CUT_VALUE)].flatMap(({ groups: { name = '', value = '' } = {} }) =>
    inFile[name] === value ? [`.env: the value of ${name} ends before #: quote it if the rest belongs to it`] : [],
  );
  return [...ofFile, ...ofLines, ...ofEnvironment, ...cut];
}

const NAMELESS = 'a line has no name before its = and is ignored';

/** Lines that Node.js skips: one sentence for each. */
export function findSkippedLines(file: string): string[] {
  const lines = file.replace(QUOTED_VALUE, '=').split('\n');
  return lines.flatMap((line) => {
    const text = line.trim();
    if (text.startsWith('=')) return [NAMELESS];
    const isSkipped = text !== '' && !text.startsWith('#') && !text.includes('=');
    return isSkipped ? [`${describeWithoutEquals(text)} and is ignored`] : [];
  });
}

/** Lines that Node.js 20 joins with the next setting, or ends at: one sentence for each. */
function findJoinedLines(file: string): string[] {
  const names = Object.keys(parseEnv(`${file}\n${END}=`));
  const joined = names.filter((name) => name.includes('\n') && !name.startsWith('#')).map(describeJoined);
  const isRead = names.some((name) => name === END || name.endsWith(`\n${END}`));
  return isRead ? joined : [...joined, 'everything behind the line that begins with = is ignored'];
}

function describeJoined(lines: string): string {
  if (lines.trim() === '') return NAMELESS;
  const subject = describeWithoutEquals(lines);
  const next = lines.slice(lines.lastIndexOf('\n') + 1).trim();
  const hasSetting = next !== END && next !== '' && !next.startsWith('#');
  return hasSetting ? `${subject}, so that ${next} below it is ignored as well` : `${subject} and is ignored`;
}

/** Only the first word of the line, because the others may be a password. */
function describeWithoutEquals(line: string): string {
  const word = /^(?:export\s+)?(?<word>\w+)/.exec(line)?.groups?.word;
  return word === undefined ? 'a line has no =' : `${word} has no = behind it`;
}

const describe = (name: string, reason: string | undefined): string =>
  `${name} is no setting and is ignored${reason === undefined ? '' : `; ${reason}`}`;

function findNearest(name: string, known: readonly string[]): string | undefined {
  const wanted = name.toUpperCase();
  const distances = known.map((setting) => ({ setting, typos: editDistance(wanted, setting, TYPOS_MAX) }));
  const [nearest] = distances.sort((a, b) => a.typos - b.typos);
  return nearest === undefined || nearest.typos > TYPOS_MAX ? undefined : `nearest is ${nearest.setting}`;
}
