// What an upload answers, line by line: its progress, and at the end a summary or an error.
import { messageOf } from '../../platform/errors.js';
import type { ImportSummary } from '../summary.js';

interface ProgressLine {
  readonly progress: {
    readonly read: number;
    readonly skipped: number;
    readonly identities: number;
    readonly bytes_read: number;
    readonly bytes_total: number;
    readonly elapsed_ms: number;
  };
}

interface Distinct {
  readonly count: number;
  readonly is_exact: boolean;
}

interface SummaryLine {
  readonly summary: {
    readonly read: number;
    readonly events: number;
    readonly stored: number | null;
    readonly already_there: number | null;
    readonly dropped: number;
    readonly refused: number;
    readonly links: number;
    readonly profiles: number;
    readonly skipped: readonly {
      readonly reason: string;
      readonly count: number;
      readonly places: readonly string[];
    }[];
    /** ISO 8601, as is `last`. */
    readonly first: string | null;
    readonly last: string | null;
    readonly people: Distinct;
    readonly devices: Distinct;
  };
}

interface ErrorLine {
  readonly error: string;
}

export type UploadLine = ProgressLine | SummaryLine | ErrorLine;

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
