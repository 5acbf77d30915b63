// What a restore refuses, what it leaves of an earlier one, and what it says about the number of
// events.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { StepProgress } from '../../../src/platform/progress.js';
import { writeArchive } from '../../../standalone/backup/archive.js';
import { compareEvents, digestFiles, requireFiles, tryReadManifest } from '../../../standalone/backup/manifest.js';
import { restoreArchive } from '../../../standalone/backup/restore.js';
import { openDataDirectory, readOrCreateSecrets } from '../../../standalone/data-directory.js';
import { StartProblem } from '../../../standalone/problem.js';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'restore-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function refusalOf(directory: string): Promise<string> {
  const archive = join(folder, 'backup.tar.gz');
  writeFileSync(archive, 'no archive');
  const shown = { progress: new StepProgress({ write: () => {} }), signal: new AbortController().signal };
  const refusal = await restoreArchive(directory, archive, shown).catch((error: unknown) => error);
  return refusal instanceof StartProblem ? refusal.message : String(refusal);
}

test('a link is refused before the archive is read, also one that leads nowhere', async () => {
  const link = join(folder, 'link');
  symlinkSync(join(folder, 'target'), link);
  const refusal = `${link} is a link, which a restore cannot replace; set DATA_DIR to the folder itself.`;
  expect(await refusalOf(link)).toBe(refusal);
  mkdirSync(join(folder, 'target'));
  expect(await refusalOf(link)).toBe(refusal);
  expect(readdirSync(folder).sort()).toEqual(['backup.tar.gz', 'link', 'target']);
});

test('a folder with content is refused, an empty one is replaced', async () => {
  const directory = join(folder, 'data');
  mkdirSync(join(directory, 'content'), { recursive: true });
  expect(await refusalOf(directory)).toContain('is not empty');
  rmSync(join(directory, 'content'), { recursive: true });
  expect(await refusalOf(directory)).toContain('is not a backup, or is damaged');
  expect(existsSync(`${directory}.restoring`)).toBe(false);
});

/** Restores an archive of the folder. */
async function restore(content: string, directory: string): Promise<unknown> {
  const { signal } = new AbortController();
  const archive = join(folder, 'backup.tar.gz');
  await writeArchive(archive, ['-C', content, '.'], { onBytes: () => {}, signal });
  return restoreArchive(directory, archive, { progress: new StepProgress({ write: () => {} }), signal });
}

test('what a killed restore has left is in no other one', async () => {
  const [content, directory] = [join(folder, 'content'), join(folder, 'data')];
  readOrCreateSecrets(openDataDirectory(content));
  mkdirSync(join(`${directory}.restoring`, 'content'), { recursive: true });
  writeFileSync(join(`${directory}.restoring`, 'content', 'standalone.json'), '{}');
  expect(await restore(content, directory)).toEqual({ manifest: undefined, missing: undefined });
  expect(readdirSync(directory).sort()).toEqual(['logs', 'secrets.json']);
  expect(readdirSync(folder).sort()).toEqual(['backup.tar.gz', 'content', 'data']);
});

test('an archive of other files is refused, and so is one of a newer form', async () => {
  const [content, directory] = [join(folder, 'content'), join(folder, 'data')];
  mkdirSync(content);
  writeFileSync(join(content, 'a'), '');
  await expect(restore(content, directory)).rejects.toThrow('backup.tar.gz is not a backup of this service.');
  writeFileSync(join(content, 'manifest.json'), '{"version":2}');
  await expect(restore(content, directory)).rejects.toThrow('The backup has the form 2, which this version');
  expect(existsSync(directory)).toBe(false);
  expect(tryReadManifest(folder)).toBeUndefined();
});

test('a file of the archive that is missing or has changed is named', async () => {
  writeFileSync(join(folder, 'people.ndjson'), '{"id":1}\n');
  const files = await digestFiles(folder);
  await requireFiles(folder, { files });
  writeFileSync(join(folder, 'people.ndjson'), '{"id":2}\n');
  const damage = 'The backup is damaged: people.ndjson is missing or has changed.';
  await expect(requireFiles(folder, { files })).rejects.toThrow(damage);
  rmSync(join(folder, 'people.ndjson'));
  await expect(requireFiles(folder, { files })).rejects.toThrow(damage);
});

test('fewer events than were counted are a remark, and an error only when none is left', () => {
  const counted = { database: 'analytics', events: 1_000_000 };
  expect(compareEvents(1_000_001, counted)).toBeUndefined();
  expect(compareEvents(995_000, counted)).toBe(
    'The backup has 995,000 events; about 1,000,000 were counted when it was written.',
  );
  expect(() => compareEvents(0, counted)).toThrow('The backup is damaged: it has none of 1,000,000 events.');
  expect(compareEvents(0, { ...counted, events: 0 })).toBeUndefined();
});
