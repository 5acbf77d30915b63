// --help of the commands of package.json that have no text of their own, and their unknown options:
// answered before anything is installed, built or written. `npm run` passes them on behind `--`.

const OPERATOR = `
The stores are those of the service that npm start runs in DATA_DIR, or those of DATABASE_URL, REDIS_URL and CLICKHOUSE_URL.`;

/** By the script that package.json runs. */
export const TEXTS = {
  'tools/start.mjs': `usage: npm start -- [--yes | --keys | --lost SHARD]

Sets up, builds and runs the whole service on the data in DATA_DIR (data). Ctrl-C stops it and keeps the data.

  --yes     installs Redis without a question when it is missing
  --keys    prints the keys of the first project of the running service
  --lost    creates new tables for a shard (1: the first) whose data is lost and will not be restored
  --help    this text

PORT, METRICS_PORT and all other settings are in .env.example.`,
  'tools/build.mjs': `usage: npm run build

Compiles the grammar, the service, the console and the browser script into dist.`,
  'tools/test.mjs': `usage: npm test -- [arguments of vitest]

Runs all tests on engines that it starts and removes: npm test -- test/integration/track.test.ts, npm test -- --project unit.`,
  'tools/check.mjs': `usage: npm run check -- [--without-tests]

Format, lint, types, unit, grammar, golden and tidy tests, without services.`,
  'tools/bench.mjs': `usage: npm run bench -- [name…] [--quick]

Runs the measurements of README.md, each on a stack of its own: npm run bench -- ingest --quick.`,
  'tools/picture.mjs': `usage: npm run picture -- [URL]

Takes the picture of README.md from the demo of a running service; default http://127.0.0.1:8080.`,
  'tools/licences.mjs': `usage: npm run licences
       npm run audit

The first writes docs/LICENCES.md, the second looks for known vulnerabilities of production dependencies.`,
  'dist/cli/explain.js': `usage: npm run explain -- [--stage parse|analyze|plan|print|calls] [--timezone Europe/Berlin] [--url URL --key sk_…] '<query>'

Prints what each stage of the compiler makes of a query; with --url and --key also how many people pass its conditions.`,
  'dist/cli/doctor.js': `usage: npm run doctor

Checks the stores and settings of a running service, and gives advice. Exit status 1 when a check failed.
${OPERATOR}`,
  'dist/cli/repair-redis.js': `usage: npm run repair-redis -- DIRECTORY

Fills the holes of zeros that a full disk has left in the append-only file of a Redis that is stopped. DIRECTORY is the "dir" of
redis.conf. npm start does the same by itself.`,
  'dist/src/platform/migrate.js': `usage: npm run migrate -- [--wait] [--lost SHARD]

Brings PostgreSQL and ClickHouse to this version, also those of an npm start that runs. It may be repeated and interrupted. npm start does the
same by itself.

  --wait    waits until ClickHouse has rewritten in the background what a migration changes, and shows how far it is
  --lost    creates new tables on the server of a shard whose data is lost and will not be restored`,
  'dist/bench/experiments.js': `usage: npm run simulate -- [number of experiments, default 10000]

Error rates of the results of experiments of value, in simulated experiments.`,
  'dist/bench/placement.js': `usage: npm run placement

Places 10,000 simulated projects on shards, and shows how even the shards are and what moves.`,
  'dist/faults/main.js': `usage: npm run faults -- [--seconds 120] [--seed N] [--shards N]

Kills and pauses the processes of a stack of its own under traffic, and checks everything that was acknowledged. With --shards, of several
ClickHouse servers one is killed over and over.`,
  'dist/faults/neighbours/main.js': `usage: npm run neighbours -- [--seconds 15] [--seed N] [--attack NAME] [--one-stack] [--factor N]

Measures one tenant alone and while another attacks, on stacks of its own.`,
};

/** Scripts that pass options on, or check them themselves. */
const CHECKED_ELSEWHERE = ['tools/test.mjs', 'tools/start.mjs'];
const EXIT_USAGE = 2;
/** Options that npm uses itself and may have from its own configuration. */
const OF_NPM = ['help', 'key', 'yes'];

/**
 * Prints the text and ends the process when the arguments ask for help, or have an option that the
 * text does not name. Scripts without a text here do both themselves.
 * @param {string} script
 */
export function answerHelp(script) {
  const text = Object.hasOwn(TEXTS, script) ? TEXTS[script] : undefined;
  if (text === undefined) return;
  const options = process.argv.slice(2).filter((argument) => argument.startsWith('-'));
  if (options.some((option) => option === '--help' || option === '-h')) {
    process.stdout.write(`${text}\n`);
    process.exit(0);
  }
  const known = text.match(/--[\w-]+/g) ?? [];
  const [, command = script] = /^usage: (npm [\w -]*?)(?: --|$)/m.exec(text) ?? [];
  const taken = known.find((option) => isTakenByNpm(option.slice(2)));
  if (taken !== undefined) {
    refuse(`npm took ${taken} for an option of its own: write -- before the arguments, as in ${command} -- … ${taken}`);
  }
  if (CHECKED_ELSEWHERE.includes(script)) return;
  const unknown = options.find((option) => !known.includes(option.replace(/=.*/, '')));
  if (unknown !== undefined) refuse(`${command} has no option ${unknown}; try --help`);
  const extra = process.argv.slice(2).find((argument) => argument !== script);
  if (extra !== undefined && text.startsWith(`usage: ${command}\n\n`)) {
    refuse(`${command} takes no arguments, not ${extra}`);
  }
}

/** As in src/platform/usage-error.ts, which is not built yet. */
const isTakenByNpm = (name) =>
  !OF_NPM.includes(name) && Boolean(process.env[`npm_config_${name.replaceAll('-', '_')}`]);

/** @returns {never} */
function refuse(problem) {
  process.stderr.write(`${problem}\n`);
  process.exit(EXIT_USAGE);
}
