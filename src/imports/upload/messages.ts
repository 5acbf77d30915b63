// What an upload answers, line by line: its progress, and at the end a summary or an error.
import { z } from 'zod';
import { messageOf } from '../../platform/errors.js';
import type { ImportSummary } from '../summary.js';

const progressLine = z.object({
  progress: z.object({
    read: z.int(),
    skipped: z.int(),
    identities: z.int(),
    bytes_read: z.int(),
    bytes_total: z.int(),
    elapsed_ms: z.number(),
  }),
});

const distinct = z.object({ count: z.int(), is_exact: z.boolean() });

const summaryLine = z.object({
  summary: z.object({
    read: z.int(),
    events: z.int(),
    stored: z.int().nullable(),
    already_there: z.int().nullable(),
    dropped: z.int(),
    refused: z.int(),
    links: z.int(),
    profiles: z.int(),
    skipped: z.array(z.object({ reason: z.string(), count: z.int(), places: z.array(z.string()) })),
    first: z.iso.datetime().nullable(),
    last: z.iso.datetime().nullable(),
    people: distinct,
    devices: distinct,
  }),
});

const errorLine = z.object({ error: z.string() });

export type UploadLine = z.infer<typeof progressLine> | z.infer<typeof summaryLine> | z.infer<typeof errorLine>;

/**
 * Without the folder of the upload and the address by which the thread reaches the service: they
 * are of the installation, and readers are members of a project.
 */
export function toErrorLine(
  cause: unknown,
  { folder, url }: { readonly folder: string; readonly url: string },
): z.infer<typeof errorLine> {
  const text = messageOf(cause);
  const { host } = new URL(url);
  return { error: text.replaceAll(`${folder}/`, '').replaceAll(url, 'the service').replaceAll(` ${host}`, '') };
}

export function toSummaryLine(summary: ImportSummary): z.infer<typeof summaryLine> {
  const { read, events, stored, dropped, refused, links, profiles, firstMs, lastMs, people, devices } = summary;
  const hasTimes = firstMs <= lastMs;
  const toDistinct = ({ count, isExact }: { count: number; isExact: boolean }) => ({ count, is_exact: isExact });
  return {
    summary: {
      ...{ read, events, dropped, refused, links, profiles },
      stored: stored ?? null,
      already_there: stored === undefined ? null : summary.accepted - stored,
      skipped: [...summary.skipped]
        .map(([reason, { count, samples }]) => ({ reason, count, places: [...samples] }))
        .sort((a, b) => b.count - a.count),
      first: hasTimes ? new Date(firstMs).toISOString() : null,
      last: hasTimes ? new Date(lastMs).toISOString() : null,
      people: toDistinct(people.value),
      devices: toDistinct(devices.value),
    },
  };
}
