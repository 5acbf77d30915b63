// POST /api/projects/{projectID}/imports: imports uploaded files of another product, or tries them.
// The answer is lines of JSON: progress, and at the end a summary or an error. A client that
// leaves ends its import.
import { setTimeout as delay } from 'node:timers/promises';
import { Worker, type WorkerOptions } from 'node:worker_threads';
import type { Request, Response, Router } from 'express';
import { z } from 'zod';
import {
  checkRole,
  createGuardedRouter,
  type GuardDeps,
  projectIdOf,
  projectOwnerIdOf,
} from '../../access/guarded-router.js';
import { personOf } from '../../access/session-middleware.js';
import { requireProject } from '../../accounts/projects.js';
import { PublicError } from '../../platform/errors.js';
import { BOUNDS } from '../../platform/flow/bounds.js';
import { OpenLimit } from '../../platform/flow/open-limit.js';
import { parseFields } from '../../platform/http/json-body.js';
import type { ProjectId } from '../../platform/ids.js';
import type { Redis } from '../../platform/redis/client.js';
import { bundledUrl } from '../../platform/threads/bundled-url.js';
import { tryToSite } from '../site.js';
import { recordBegun, recordEnded } from './audit.js';
import { claimImport } from './claim.js';
import { type Ended, Ending } from './ending.js';
import type { UploadLine } from './lines.js';
import { receiveFiles, removeLeftFolders } from './receive.js';
import type { UploadJob } from './thread.js';

export interface UploadDeps extends GuardDeps {
  readonly redis: Redis;
  readonly secretKeyBase: string;
  /** The service, as a thread of this process reaches it. */
  readonly url: () => string;
  readonly bytesMax: number;
  /** Imports that may run at once in this process. */
  readonly openMax: number;
}

export interface Uploads {
  readonly router: Router;
  /** Ends all imports, and resolves when their files are removed. */
  close(): Promise<void>;
}

const siteField = z
  .url({ protocol: /^https?$/ })
  .refine((text) => !URL.canParse(text) || tryToSite(new URL(text)) !== undefined, 'takes no query and no fragment');
const timeZoneField = z.string().refine(isTimeZone, 'is no time zone; one is Europe/Berlin');

export const uploadQuery = z.object({
  source: z.string().meta({ description: 'as of npm run import', examples: ['mixpanel'] }),
  dry_run: z.enum(['true', 'false']).optional(),
  site: siteField.optional(),
  timezone: timeZoneField.optional(),
});

const THREAD = new URL(bundledUrl(new URL('thread.ts', import.meta.url).href));
const MEMORY_MEBIBYTES = 256;
/** From being told to stop to the end of the thread. */
const STOP_MS = 2000;
const STOPPING = 'the service is being restarted; import again: what was imported is not counted twice';

export function createUploads(deps: UploadDeps): Uploads {
  const { router, on } = createGuardedRouter(deps);
  const admission = new OpenLimit('imports', deps.openMax);
  const running = new Set<() => void>();
  const handling = new Set<Promise<void>>();
  // Before any upload of this process.
  const ready = removeLeftFolders();

  async function importFiles(req: Request, res: Response): Promise<void> {
    await ready;
    const { source, site, timezone, dry_run: dryRun } = parseFields(uploadQuery, req.query);
    await requireSource(source);
    const projectId = projectIdOf(res);
    const leave = admission.open({ projectId, ownerId: projectOwnerIdOf(res) });
    try {
      const release = await claimImport(deps.redis, projectId);
      try {
        const target = { url: deps.url(), key: await readKey(deps, projectId) };
        const decompressedBytesMax = BOUNDS.importDecompression * deps.bytesMax;
        const { folder, paths, remove } = await receiveFiles(req, deps.bytesMax);
        try {
          // Files arrive for minutes, in which the person may lose the role.
          await checkRole(deps.postgres, { req, res, least: 'admin' });
          const isDryRun = dryRun === 'true';
          const job = { source, folder, paths, isDryRun, timeZone: timezone, decompressedBytesMax, ...target };
          const trail = { postgres: deps.postgres, projectId, personId: personOf(res).personId, source };
          // Without its entry in the trail, nothing is imported.
          if (!isDryRun) await recordBegun(trail, paths.length);
          const ended = await runInThread({ ...job, site: site && tryToSite(new URL(site)) }, res, running);
          if (!isDryRun) await recordEnded(trail, ended);
        } finally {
          await remove();
        }
      } finally {
        await release();
      }
    } finally {
      leave();
    }
  }

  on('POST /api/projects/{projectID}/imports', (req, res) => {
    const handled = importFiles(req, res).finally(() => handling.delete(handled));
    handling.add(handled);
    return handled;
  });

  return {
    router,
    close: async () => {
      for (const stop of running) stop();
      // An upload that is still being received ends with its connection.
      await Promise.race([Promise.allSettled(handling), delay(2 * STOP_MS, undefined, { ref: false })]);
    },
  };
}

/** The readers of sources are loaded only when needed. */
async function requireSource(name: string): Promise<void> {
  const { findSource, NOT_EVENTS, SOURCES } = await import('../sources/table.js');
  if (findSource(name) !== undefined) return;
  const names = SOURCES.map((source) => source.name).join(', ');
  throw new PublicError('bad_request', NOT_EVENTS.get(name) ?? `cannot import "${name}"; the sources are ${names}`);
}

async function readKey({ postgres, secretKeyBase }: UploadDeps, projectId: ProjectId): Promise<string> {
  const { secret_key: key } = await requireProject(postgres, projectId, { viewer: 'admin_key', secretKeyBase });
  if (key !== null && key !== undefined) return key;
  throw new PublicError('unavailable', 'the secret key cannot be read, because SECRET_KEY_BASE has changed: rotate it');
}

/**
 * Temporary files of the thread are in the folder of the upload, so that they are removed with it
 * when the thread is terminated or runs out of memory.
 */
export const toThreadOptions = ({ folder }: Pick<UploadJob, 'folder'>): WorkerOptions => ({
  execArgv: [],
  env: { TMPDIR: folder },
  resourceLimits: { maxOldGenerationSizeMb: MEMORY_MEBIBYTES },
});

/** Resolves when the thread has ended, with its last line. */
function runInThread(job: UploadJob, res: Response, running: Set<() => void>): Promise<Ended> {
  res.writeHead(200, {
    'Content-Type': 'application/x-ndjson',
    'Cache-Control': 'no-store',
    'X-Accel-Buffering': 'no',
  });
  const ending = new Ending();
  const send = (line: UploadLine): void => {
    if (ending.say(line) && !res.writableEnded) res.write(`${JSON.stringify(line)}\n`);
  };
  return new Promise((resolve) => {
    const worker = new Worker(THREAD, { workerData: job, ...toThreadOptions(job) });
    const stop = (): void => {
      ending.stop();
      worker.postMessage('stop');
      setTimeout(() => void worker.terminate(), STOP_MS).unref();
    };
    const restart = (): void => {
      send({ error: STOPPING });
      res.end();
      stop();
    };
    running.add(restart);
    if (res.destroyed) stop();
    else res.once('close', stop);
    worker.on('message', send);
    worker.on('error', (cause) => send({ error: `the import failed: ${cause.message}` }));
    worker.once('exit', () => {
      running.delete(restart);
      res.off('close', stop);
      res.end();
      resolve(ending.ended);
    });
  });
}

function isTimeZone(zone: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone });
    return true;
  } catch {
    return false;
  }
}
