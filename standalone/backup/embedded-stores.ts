// The embedded stores of a data directory while `npm start` runs: their addresses and accounts for
// a backup.
import { existsSync, readFileSync } from 'node:fs';
import { BACKUP_USER, SERVICE_USER } from '../clickhouse-config.js';
import type { DataDirectory, Secrets } from '../data-directory.js';
import { StartProblem } from '../problem.js';
import type { EngineAccess } from './engine-backup.js';

export interface EmbeddedStores {
  readonly DATABASE_URL: string;
  readonly REDIS_URL: string;
  readonly clickhouse: EngineAccess;
  /** May only run BACKUP. */
  readonly clickhouseBackup: EngineAccess;
  readonly database: string;
}

/** Throws a StartProblem when the service is not ready, or uses a store that is not embedded. */
export function findEmbeddedStores(directory: DataDirectory, secrets: Secrets): EmbeddedStores {
  const path = directory.serviceEnvironmentFile;
  if (!existsSync(path)) {
    throw new StartProblem(
      'The service is starting or stopping, or another command copies its data: try again when it has ended.',
    );
  }
  const env = JSON.parse(readFileSync(path, 'utf8')) as Record<string, string | undefined>;
  const urlOf = (variable: string, password: string): string => {
    const url = env[variable] ?? '';
    if (URL.canParse(url) && new URL(url).password === password) return url;
    throw new StartProblem(
      `${variable} is a server of your own: back it up with its own programs. npm run backup copies the stores that npm start brings.`,
    );
  };
  const url = new URL(urlOf('CLICKHOUSE_URL', secrets.clickhousePassword)).origin;
  return {
    DATABASE_URL: urlOf('DATABASE_URL', secrets.postgresServicePassword),
    REDIS_URL: urlOf('REDIS_URL', secrets.redisPassword),
    clickhouse: { url, user: SERVICE_USER, password: secrets.clickhousePassword },
    clickhouseBackup: { url, user: BACKUP_USER, password: secrets.clickhouseBackupPassword },
    database: env.CLICKHOUSE_DATABASE || 'analytics',
  };
}
