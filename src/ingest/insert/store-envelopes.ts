// Adds the events of envelopes to the block of a writer, and resolves when they are stored.
import type { Turn } from '../../platform/flow/batch-writer.js';
import type { Lease } from '../../platform/redis/leased-worker.js';
import type { Envelope } from '../envelope.js';
import type { EventWriter } from './event-writers.js';
import { groupByMonths, quarterOf } from './months.js';
import { type AcceptedEvent, monthsOf, type ParsedEnvelope, parseEnvelope, replayParsed } from './replay-events.js';

/** Whose envelopes they are. */
export interface Holder {
  readonly turn: Turn;
  readonly lease: Lease;
}

export async function storeEnvelopes(
  writer: EventWriter,
  envelopes: readonly Envelope[],
  holder: Holder,
): Promise<void> {
  await writer.room(holder.turn);
  // Parsed events are many times the size of their bytes, so a retry parses the bytes again.
  let parsed: ParsedEnvelope[] | undefined = envelopes.map(parseEnvelope);
  if (!monthsOf(parsed).areFew) {
    parsed = undefined;
    return storeByQuarter(writer, envelopes, holder);
  }
  await writer.add((block) => {
    block.leases.add(holder.lease);
    for (const envelope of parsed ?? envelopes.map(parseEnvelope)) {
      replayParsed(envelope, (event) => block.add(event, envelope.isAscii));
    }
    parsed = undefined;
  });
}

/** Newest first: the prompt queue waits only for the newest. */
async function storeByQuarter(
  writer: EventWriter,
  envelopes: readonly Envelope[],
  { turn, lease }: Holder,
): Promise<void> {
  const groups = groupByMonths(readEvents(envelopes));
  for (let index = 0; index < groups.length; index += 1) {
    const kind = String(quarterOf(groups[index]?.[0]?.time ?? 0));
    if (index > 0) await writer.room({ ...turn, kind, isPrompt: false });
    let events: ReadEvent[] | undefined = groups[index];
    await writer.add((block) => {
      block.leases.add(lease);
      for (const { event, isAscii } of events ?? groupByMonths(readEvents(envelopes))[index] ?? []) {
        block.add(event, isAscii);
      }
      events = undefined;
      groups[index] = [];
    });
  }
}

interface ReadEvent {
  readonly time: number;
  readonly event: AcceptedEvent;
  readonly isAscii: boolean;
}

function readEvents(envelopes: readonly Envelope[]): ReadEvent[] {
  const events: ReadEvent[] = [];
  for (const envelope of envelopes.map(parseEnvelope)) {
    const { isAscii } = envelope;
    replayParsed(envelope, (event) => events.push({ time: event.time, event, isAscii }));
  }
  return events;
}
