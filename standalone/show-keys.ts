// `npm start -- --keys`: the keys of the first project of a running service, read from its
// database.
import { existsSync, readFileSync } from 'node:fs';
import { readOperatorConfig } from '../src/platform/config.js';
import { createPostgres } from '../src/platform/postgres/client.js';
import { readFirstProject } from './first-project.js';
import { StartProblem } from './problem.js';
import type { StandaloneFile } from './standalone-file.js';
import { formatKeys } from './terminal.js';

export async function showKeys(standaloneFile: string): Promise<void> {
  if (!existsSync(standaloneFile)) throw new StartProblem(`${standaloneFile} does not exist: run npm start first.`);
  const file = JSON.parse(readFileSync(standaloneFile, 'utf8')) as StandaloneFile;
  const config = readOperatorConfig();
  const postgres = createPostgres(config, { poolMax: 1 });
  try {
    const project = await readFirstProject(postgres, { ...file, secretKeyBase: config.SECRET_KEY_BASE });
    process.stdout.write(`${formatKeys(project)}\n`);
  } finally {
    await postgres.destroy();
  }
}
