// Address and key of an import: from the command line, else the environment, else the service that
// `npm start` runs. Its address is in DATA_DIR/standalone.json; its key is read from its database,
// because it may have been rotated.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { messageOf } from '../platform/errors.js';
import { parseHttpUrl, UsageError } from '../platform/usage-error.js';

export interface ImportTarget {
  readonly url: string;
  readonly key: string;
}

export interface TargetEnvironment {
  readonly SERVICE_URL?: string | undefined;
  readonly SERVICE_KEY?: string | undefined;
  readonly dataDirectory: string;
  /**
   * Reads a project's secret key from the database of the running service; null when it cannot be
   * decrypted.
   */
  readonly readSecretKey: (projectId: string) => Promise<string | null>;
}

const standaloneSchema = z.object({ url: z.url(), project_id: z.string() });

export async function resolveTarget(
  given: { readonly url: string | undefined; readonly key: string | undefined; readonly project?: string | undefined },
  environment: TargetEnvironment,
): Promise<ImportTarget> {
  const url = given.url ?? (environment.SERVICE_URL || undefined);
  if (url !== undefined) parseHttpUrl(given.url === undefined ? 'SERVICE_URL' : '--url', url);
  // A project that is named wins over a key of the environment.
  const key = given.key ?? (given.project === undefined ? environment.SERVICE_KEY || undefined : undefined);
  if (url !== undefined && key !== undefined) return requireSecretKey({ url, key });
  // Never send the key of the standalone service to another address.
  if (url !== undefined) throw new UsageError('--url needs --key (or SERVICE_KEY): a secret key of that service');
  const standalone = await readStandalone(environment.dataDirectory);
  const project = given.project ?? standalone.project_id;
  return requireSecretKey({ url: standalone.url, key: key ?? (await readKey(project, environment)) });
}

function requireSecretKey(target: ImportTarget): ImportTarget {
  if (target.key.startsWith('sk_')) return target;
  // Without a secret key the service ignores the logged addresses and user agents: all visitors
  // would be this machine.
  throw new UsageError(
    'an import needs a secret key (sk_…): only with it addresses and countries of records are taken',
  );
}

async function readKey(projectId: string, { readSecretKey }: TargetEnvironment): Promise<string> {
  const key = await readSecretKey(projectId).catch((cause: unknown) => {
    // Says itself which argument is wrong.
    if (cause instanceof UsageError) throw cause;
    const reason = messageOf(cause);
    throw new UsageError(`the key of the service cannot be read: ${reason}; give --key`, { cause });
  });
  if (key !== null) return key;
  throw new UsageError('the key of the service cannot be read, because SECRET_KEY_BASE has changed; give --key');
}

/**
 * Throws a UsageError when `npm start` has not written the file yet. `otherwise`: how the caller
 * finds a service that `npm start` does not run.
 */
export async function readStandalone(
  dataDirectory: string,
  otherwise = 'give --url and --key',
): Promise<z.infer<typeof standaloneSchema>> {
  const path = join(dataDirectory, 'standalone.json');
  const text = await readFile(path, 'utf8').catch((cause: unknown) => {
    throw new UsageError(`no service found at ${path}: run "npm start" first, or ${otherwise}`, { cause });
  });
  return standaloneSchema.parse(JSON.parse(text));
}
