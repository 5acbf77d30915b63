// Receives the files of an upload into a folder of the system for temporary files: a line of JSON
// with their names and sizes, then their bytes one after the other. Never whole in memory.
import { mkdtemp, open, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { PublicError } from '../../platform/errors.js';
import { describeProblem } from '../../platform/http/field-problem.js';
import { isProcessRunning } from '../../platform/process-running.js';
import { tryParseJson } from '../values.js';
import { DISK_FULL, isDiskFull } from './messages.js';

export interface ReceivedFiles {
  readonly folder: string;
  /** In the order of the upload, by the names that they have there. */
  readonly paths: readonly string[];
  readonly remove: () => Promise<void>;
}

const FILES_MAX = 100;
const HEAD_BYTES_MAX = 64 * 1024;
const NEWLINE = 0x0a;

/** Limit of file systems; each character has one to four bytes. */
const NAME_BYTES_MAX = 255;

/** A name that is one in any folder: places in the summary show it. */
const nameField = z
  .string()
  .max(200)
  .refine((name) => Buffer.byteLength(name) <= NAME_BYTES_MAX, `has more than ${NAME_BYTES_MAX} bytes`)
  .regex(/^(?!\.)[^/\\\p{Cc}]+$/u, 'is no name of a file');

const uploadHead = z
  .array(z.object({ name: nameField, bytes: z.int().min(0) }))
  .min(1)
  .max(FILES_MAX);

type Head = z.infer<typeof uploadHead>;

const PREFIX = 'service-upload-';

/** Removes the folders of processes that have ended without removing them. Never rejects. */
export async function removeLeftFolders(): Promise<void> {
  const names = await readdir(tmpdir()).catch(() => []);
  for (const name of names) {
    const [, pid] = new RegExp(`^${PREFIX}(\\d+)-`).exec(name) ?? [];
    if (pid === undefined || isOfRunning(Number(pid))) continue;
    // It may belong to another account.
    await rm(join(tmpdir(), name), { recursive: true, force: true }).catch(() => {});
  }
}

/** A folder with the id of this process was left by an earlier one that had the same id. */
const isOfRunning = (pid: number): boolean => pid !== process.pid && isProcessRunning(pid);

/** Rejects with bad_request, too_large or unavailable, and leaves no folder then. */
export async function receiveFiles(body: AsyncIterable<Buffer>, bytesMax: number): Promise<ReceivedFiles> {
  const chunks = body[Symbol.asyncIterator]();
  let remove = async (): Promise<void> => {};
  try {
    const folder = await mkdtemp(join(tmpdir(), `${PREFIX}${process.pid}-`));
    remove = () => rm(folder, { recursive: true, force: true });
    const { head, rest } = await readHead(chunks);
    requireSize(head, bytesMax);
    await writeFiles(head, join(folder, '/'), continued(rest, chunks));
    return { folder, paths: head.map(({ name }) => join(folder, name)), remove };
  } catch (cause) {
    void discardRest(chunks);
    await remove();
    throw toAnswer(cause);
  }
}

function toAnswer(cause: unknown): unknown {
  if (isDiskFull(cause)) return new PublicError('unavailable', DISK_FULL, { cause });
  const isCutOff = cause instanceof Error && 'code' in cause && cause.code === 'ECONNRESET';
  return isCutOff ? new PublicError('bad_request', 'the upload was cut off', { cause }) : cause;
}

/** Browsers read no answer before they have sent everything. */
async function discardRest(chunks: AsyncIterator<Buffer>): Promise<void> {
  try {
    while ((await chunks.next()).done !== true);
  } catch {
    // Cut off.
  }
}

function requireSize(head: Head, bytesMax: number): void {
  if (new Set(head.map(({ name }) => name)).size < head.length) {
    throw new PublicError('bad_request', 'two files have the same name');
  }
  const bytes = head.reduce((sum, file) => sum + file.bytes, 0);
  if (bytes <= bytesMax) return;
  const limit = `the limit of an upload is ${bytesMax}`;
  throw new PublicError('too_large', `the files have ${bytes} bytes; ${limit}; the command npm run import has none`);
}

async function readHead(chunks: AsyncIterator<Buffer>): Promise<{ head: Head; rest: Buffer }> {
  let bytes: Buffer = Buffer.alloc(0);
  while (!bytes.includes(NEWLINE) && bytes.length <= HEAD_BYTES_MAX) {
    const next = await chunks.next();
    if (next.done === true) break;
    bytes = Buffer.concat([bytes, next.value]);
  }
  const newline = bytes.indexOf(NEWLINE);
  const end = newline === -1 ? bytes.length : newline;
  const parsed = uploadHead.safeParse(tryParseJson(bytes.subarray(0, end).toString()), { error: describeProblem });
  if (!parsed.success) {
    const problem = parsed.error.issues.map(({ path, message }) => [...path, message].join(' ')).join('; ');
    throw new PublicError('bad_request', `the first line is not a list of files: ${problem}`);
  }
  return { head: parsed.data, rest: bytes.subarray(end + 1) };
}

async function* continued(first: Buffer, chunks: AsyncIterator<Buffer>): AsyncGenerator<Buffer, void, undefined> {
  if (first.length > 0) yield first;
  for (let next = await chunks.next(); next.done !== true; next = await chunks.next()) yield next.value;
}

async function writeFiles(head: Head, folder: string, chunks: AsyncGenerator<Buffer, void, undefined>): Promise<void> {
  let left: Buffer = Buffer.alloc(0);
  for (const { name, bytes } of head) {
    const file = await open(join(folder, name), 'wx', 0o600);
    try {
      for (let missing = bytes; missing > 0; ) {
        if (left.length === 0) {
          const next = await chunks.next();
          if (next.done === true) throw new PublicError('bad_request', `the upload ends within ${name}`);
          left = next.value;
        }
        const part = left.subarray(0, missing);
        left = left.subarray(part.length);
        missing -= part.length;
        await file.appendFile(part);
      }
    } finally {
      await file.close();
    }
  }
  if (left.length > 0 || (await chunks.next()).done !== true) {
    throw new PublicError('bad_request', 'the upload has more bytes than its files');
  }
}
