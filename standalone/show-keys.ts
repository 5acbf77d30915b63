// `npm start -- --keys`: the keys of the first project of a running service, read from its
// database.
import { existsSync, readFileSync } from 'node:fs';
import { readOperatorConfig } from '../src/platform/config.js';
import { withPostgres } from '../src/platform/postgres/client.js';
import { readFirstProject } from './first-project.js';
import { StartProblem } from './problem.js';
import type { StandaloneFile } from './standalone-file.js';
import { formatKeys } from './terminal.js';

export async function showKeys(standaloneFile: string): Promise<void> {
  if (!existsSync(standaloneFile)) throw new StartProblem(`${standaloneFile} does not exist: run npm start first.`);
  const file = JSON.parse(readFileSync(standaloneFile, 'utf8')) as StandaloneFile;
  const config = readOperatorConfig();
  const known = { ...file, secretKeyBase: config.SECRET_KEY_BASE };
  const project = await withPostgres(config, (postgres) => readFirstProject(postgres, known));
  process.stdout.write(`${formatKeys(project)}\n`);
}
