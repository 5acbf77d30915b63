// Makes the lines that an upload answers.
import { messageOf } from '../../platform/errors.js';
import type { ImportSummary } from '../summary.js';
import type { Distinct, ErrorLine, SummaryLine } from './lines.js';

/** Of the folder of the upload, where its import writes temporary files as well. */
export const DISK_FULL = 'the disk of the service for temporary files (TMPDIR) is full';

export const isDiskFull = (cause: unknown): boolean =>
  cause instanceof Error && 'code' in cause && (cause.code === 'ENOSPC' || cause.code === 'EDQUOT');

/**
 * Without the folder of the upload and the address by which the thread reaches the service: they
 * are of the installation, and readers are members of a project.
 */
export function toErrorLine(
  cause: unknown,
  { folder, url }: { readonly folder: string; readonly url: string },
): ErrorLine {
  if (isDiskFull(cause)) return { error: DISK_FULL };
  const text = messageOf(cause);
  const { host } = new URL(url);
  return { error: text.replaceAll(`${folder}/`, '').replaceAll(url, 'the service').replaceAll(` ${host}`, '') };
}

export function toSummaryLine(summary: ImportSummary): SummaryLine {
  const { read, events, stored, dropped, refused, links, profiles, firstMs, lastMs, people, devices } = summary;
  const hasTimes = firstMs <= lastMs;
  const toDistinct = ({ count, isExact }: { count: number; isExact: boolean }): Distinct => ({
    count,
    is_exact: isExact,
  });
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
