// Counters of an import and their report. A dry run counts the same, so that its report is equal.

import { formatCount } from '../platform/progress.js';
import { DistinctCounter } from './distinct-counter.js';
import type { ImportedEvent, Source } from './source.js';

const SAMPLES_MAX = 3;

interface Skipped {
  count: number;
  /** Where the first ones are, as `file:line`. */
  readonly samples: string[];
}

export class ImportSummary {
  /** Records, the ones that cannot be read included. */
  read = 0;
  /** Events that are valid here, in a real run: that the service has answered. */
  events = 0;
  /** Events of these that rules of the project dropped; unknown to a dry run. */
  dropped = 0;
  /** Events of these that the service refused; its limits may be lower than the defaults. */
  refused = 0;
  /**
   * Events that were not stored before; undefined in a dry run, or when the service did not say.
   */
  stored: number | undefined;
  /** Devices with a user, by the last link of each. */
  links = 0;
  profiles = 0;
  /** Files that could not be read to their end, which `skipped` names. */
  cutFiles = 0;
  firstMs = Number.POSITIVE_INFINITY;
  lastMs = Number.NEGATIVE_INFINITY;
  readonly people = new DistinctCounter();
  readonly devices = new DistinctCounter();
  readonly #skipped = new Map<string, Skipped>();

  /** Skipped parts of records by reason. */
  get skipped(): ReadonlyMap<string, Readonly<Skipped>> {
    return this.#skipped;
  }

  get skippedCount(): number {
    return [...this.#skipped.values()].reduce((sum, { count }) => sum + count, 0);
  }

  /** Events that the service has accepted. */
  get accepted(): number {
    return this.events - this.dropped - this.refused;
  }

  /** Whether anything of the input was of use. */
  get isEmpty(): boolean {
    return this.events === 0 && this.links === 0 && this.profiles === 0;
  }

  addEvent({ user_id: user, device_id: device }: ImportedEvent, timeMs: number): void {
    this.firstMs = Math.min(this.firstMs, timeMs);
    this.lastMs = Math.max(this.lastMs, timeMs);
    if (user !== undefined) this.people.add(String(user));
    if (device !== undefined) this.devices.add(String(device));
  }

  /** Returns whether this is one of the first of its reason. */
  addSkipped(reason: string, place: string): boolean {
    const known = this.#skipped.get(reason) ?? { count: 0, samples: [] };
    this.#skipped.set(reason, known);
    known.count += 1;
    if (known.samples.length >= SAMPLES_MAX) return false;
    known.samples.push(place);
    return true;
  }
}

export function toReport(summary: ImportSummary, { isDryRun }: { readonly isDryRun: boolean }): string {
  const counts = Object.entries({ read: summary.read, events: summary.events, links: summary.links });
  const rows = [...counts, ['profiles', summary.profiles] as const, ['skipped', summary.skippedCount] as const];
  const reasons = [...summary.skipped].sort(([a], [b]) => (a < b ? -1 : 1));
  const times = summary.firstMs <= summary.lastMs;
  return [
    ...rows.map(([name, count]) => toRow(name, formatCount(count))),
    ...reasons.map(
      ([reason, { count, samples }]) =>
        `  ${formatCount(count)} ${reason}: ${samples.join(', ')}${count > samples.length ? ', …' : ''}`,
    ),
    ...(times ? [toRow('first', toTime(summary.firstMs)), toRow('last', toTime(summary.lastMs))] : []),
    toRow('people', toDistinct(summary.people)),
    toRow('devices', toDistinct(summary.devices)),
    ...(summary.dropped > 0 ? [toRow('dropped', formatCount(summary.dropped))] : []),
    ...(summary.refused > 0 ? [toRow('refused', formatCount(summary.refused))] : []),
    ...toStored(summary, isDryRun),
    '',
  ].join('\n');
}

/** Why an import that has ended is not, or not all, imported; undefined when it is. */
export function findFailure(
  summary: ImportSummary,
  { paths, source }: { readonly paths: readonly string[]; readonly source: Pick<Source, 'name' | 'about'> },
): string | undefined {
  const { read, isEmpty, cutFiles } = summary;
  const files = paths.join(' ');
  if (cutFiles > 0) {
    const subject = cutFiles === 1 ? '1 file was' : `${formatCount(cutFiles)} files were`;
    return `${subject} not read to the end: mend what is named above, and import again; what was imported counts once`;
  }
  if (read === 0) return `${files} has no records; ${source.name} reads ${source.about}`;
  if (isEmpty) return `nothing in ${files} can be imported as ${source.name}, which reads ${source.about}`;
  return undefined;
}

function toStored({ stored, accepted }: ImportSummary, isDryRun: boolean): string[] {
  if (isDryRun) return ['dry run: nothing was sent'];
  // Unknown also when nothing was accepted, and after an interruption.
  if (stored === undefined) return ['events that were there already count once; how many is not known'];
  return [toRow('stored', formatCount(stored)), toRow('there already', formatCount(accepted - stored))];
}

const toRow = (name: string, text: string): string => `${name.padEnd(13)}${text.padStart(22)}`;
const toTime = (timeMs: number): string => new Date(timeMs).toISOString();

function toDistinct(counter: DistinctCounter): string {
  const { count, isExact } = counter.value;
  return `${isExact ? '' : 'about '}${formatCount(count)}`;
}
