// The first event of a project at or after each of some instants: until then, a range that begins
// or ends at the instant has the same events when it begins or ends later.
import type { ClickHouseClient } from '../platform/clickhouse/client.js';
import { smallReadsOf } from '../platform/clickhouse/small-read.js';
import { BOUNDS } from '../platform/flow/bounds.js';
import type { ProjectId } from '../platform/ids.js';

/** Milliseconds, in the order of the instants. */
export type NextEvents = readonly number[];

/** Looks only as far as an answer is kept; without an event until then, it is that end. */
export async function readNextEvents(
  clickhouse: ClickHouseClient,
  projectId: ProjectId,
  instants: readonly number[],
): Promise<NextEvents> {
  const ends = instants.map((ms) => ms + BOUNDS.keptAnswerMs);
  const spans = instants.map(
    (_, index) =>
      `(time >= fromUnixTimestamp64Milli({from${index}:Int64}) AND time < fromUnixTimestamp64Milli({to${index}:Int64}))`,
  );
  const firsts = spans.map((span) => `minOrNullIf(toUnixTimestamp64Milli(time), ${span})`);
  // One scan for all: it takes two thirds of the time of a union of two.
  const [found = []] = await smallReadsOf(clickhouse)(
    `SELECT ${firsts.join(', ')}\nFROM events\nWHERE project_id = {project:UUID} AND (${spans.join(' OR ')})`,
    {
      project: projectId,
      ...Object.fromEntries(instants.map((ms, index) => [`from${index}`, ms])),
      ...Object.fromEntries(ends.map((ms, index) => [`to${index}`, ms])),
    },
  );
  return ends.map((end, index) => (found[index] as number | null | undefined) ?? end);
}
