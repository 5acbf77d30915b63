// Address and key of the target service: from the command line, else the environment, else the running standalone
// service.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { type ImportArguments, UsageError } from './arguments.js';

export interface ImportTarget {
  readonly url: string;
  readonly key: string;
}

export interface TargetEnvironment {
  readonly SERVICE_URL?: string | undefined;
  readonly SERVICE_KEY?: string | undefined;
  readonly dataDirectory: string;
}

const standaloneSchema = z.object({ url: z.url(), secret_key: z.string() });

export async function resolveTarget(
  given: Pick<ImportArguments, 'url' | 'key'>,
  environment: TargetEnvironment,
): Promise<ImportTarget> {
  const url = given.url ?? (environment.SERVICE_URL || undefined);
  const key = given.key ?? (environment.SERVICE_KEY || undefined);
  if (url !== undefined && key !== undefined) return requireSecretKey({ url, key });
  // Never send the key of the standalone service to another address.
  if (url !== undefined) throw new UsageError('--url needs --key (or SERVICE_KEY): a secret key of that service');
  const standalone = await readStandalone(join(environment.dataDirectory, 'standalone.json'));
  return requireSecretKey({ url: standalone.url, key: key ?? standalone.secret_key });
}

function requireSecretKey(target: ImportTarget): ImportTarget {
  if (target.key.startsWith('sk_')) return target;
  // Without a secret key the service ignores the logged addresses and user agents: all visitors would be this machine.
  throw new UsageError('an import needs a secret key (sk_…): only with it the addresses of the log are taken');
}

async function readStandalone(path: string): Promise<z.infer<typeof standaloneSchema>> {
  const text = await readFile(path, 'utf8').catch((cause: unknown) => {
    throw new UsageError(`no service found at ${path}: run "npm start" first, or give --url and --key`, { cause });
  });
  return standaloneSchema.parse(JSON.parse(text));
}
