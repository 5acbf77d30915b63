// `npm run invite -- owner@example.com`: prints a one-time link that signs in a first owner, before
// an identity provider is configured.
import { existsSync } from 'node:fs';
import { env } from 'node:process';
import { tryCanonicalEmail } from '../src/accounts/addresses.js';
import { readStandalone } from '../src/imports/target.js';
import { failWithMessage } from '../src/platform/command-failure.js';
import { type Config, dataDirectory, readOperatorConfig } from '../src/platform/config.js';
import { EXIT_USAGE } from '../src/platform/exit-status.js';
import { withPostgres } from '../src/platform/postgres/client.js';
import { publicUrlOf } from '../src/platform/public-url.js';
import { createSignInLink } from '../src/sign-in/sign-in-links.js';

const HELP = `usage: npm run invite -- owner@example.com

Prints a link that signs in this person once, within a day, as an owner of the oldest organization without members, or of a new one.
Run it again for a new link. Once an identity provider is configured and has verified the same address, the person signs in there.

The service is the one that npm start runs in DATA_DIR, or that of DATABASE_URL and its like; PUBLIC_URL is its address.
`;

let config: Config | undefined;

async function findPublicUrl(config: Config): Promise<URL> {
  const isStandalone = config.PUBLIC_URL === undefined && !env.DATABASE_URL && existsSync(dataDirectory());
  return isStandalone ? new URL((await readStandalone(dataDirectory())).url) : publicUrlOf(config);
}

function refuse(problem: string): void {
  process.stderr.write(`${problem}\n`);
  process.exitCode = EXIT_USAGE;
}

async function run(args: readonly string[]): Promise<void> {
  const [email, more] = args;
  if (args.some((arg) => arg === '--help' || arg === '-h')) return void process.stdout.write(HELP);
  const option = args.find((arg) => arg.startsWith('-'));
  if (option !== undefined) return refuse(`npm run invite has no option ${option}; try --help`);
  if (email === undefined) return refuse('the e-mail address is missing: npm run invite -- owner@example.com');
  if (more !== undefined) return refuse(`npm run invite takes one e-mail address, not also ${more}`);
  if (tryCanonicalEmail(email) === undefined) return refuse(`"${email}" is not an e-mail address`);
  config = readOperatorConfig();
  const url = await findPublicUrl(config);
  const secretKeyBase = config.SECRET_KEY_BASE;
  const link = await withPostgres(config, (postgres) => createSignInLink(postgres, { email, secretKeyBase }));
  process.stdout.write(`${new URL(link.path, url).href}\n`);
  const owns = link.organization === undefined ? '' : `, the owner of "${link.organization}" from now on`;
  process.stderr.write(`signs in ${link.email} once, until ${link.expiresAt.toISOString()}${owns}\n`);
}

await run(process.argv.slice(2)).catch((error: unknown) => failWithMessage(error, config));
