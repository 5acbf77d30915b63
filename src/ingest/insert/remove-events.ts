// Removes events from the envelope of an accepted request, for erasures; the remaining events are
// stored exactly as before.
import { isObject } from '../../platform/json-object.js';
import { GENERATED_ID_LENGTH } from '../accept.js';
import { parseTrackBody } from '../body.js';
import { type Envelope, type EnvelopeHeader, serializeEvents } from '../envelope.js';
import { toIdText } from '../schema.js';
import { type AcceptedEvent, replayEvents } from './replay-events.js';

export interface Remaining {
  /** Undefined when nothing remains; the same object when nothing was removed. */
  readonly envelope: Envelope | undefined;
  readonly removed: readonly AcceptedEvent[];
}

export function removeEvents(
  envelope: Envelope,
  isRemoved: (event: AcceptedEvent, position: number) => boolean,
): Remaining {
  const removedAt = new Map<number, AcceptedEvent>();
  replayEvents(envelope, (event, position) => {
    if (isRemoved(event, position)) removedAt.set(position, event);
  });
  const removed = [...removedAt.values()];
  if (removed.length === envelope.header.n) return { envelope: undefined, removed };
  // Events that were never accepted are still in the bytes of the request, and may be of any
  // person.
  const isWhole = removed.length === 0 && envelope.header.skip === undefined;
  return { envelope: isWhole ? envelope : rewrite(envelope, removedAt), removed };
}

/**
 * Keeps positions, because first-seen times are stored by position; a removed event becomes null.
 */
function rewrite({ header, body }: Envelope, removedAt: ReadonlyMap<number, AcceptedEvent>): Envelope {
  const skip = new Set([...(header.skip ?? []), ...removedAt.keys()]);
  const { skip: _skip, ids: _ids, ...rest } = header;
  const { events } = parseTrackBody(body);
  const ids = remainingIds(events, header, removedAt);
  const kept = events.map((event, position) => (skip.has(position) ? null : event));
  return {
    header: {
      ...rest,
      n: header.n - removedAt.size,
      ...(skip.size > 0 && { skip: [...skip].sort((a, b) => a - b) }),
      ...(ids !== '' && { ids }),
    },
    body: serializeEvents(kept, header.own ? (event) => event : undefined),
  };
}

/** Generated ids are assigned in order, so those of removed events are removed as well. */
function remainingIds(
  events: readonly unknown[],
  header: EnvelopeHeader,
  removedAt: ReadonlyMap<number, AcceptedEvent>,
): string {
  const skipped = new Set(header.skip);
  let ids = '';
  let at = 0;
  events.forEach((event, position) => {
    if (skipped.has(position) || !isObject(event) || toIdText(event.insert_id) !== '') return;
    if (!removedAt.has(position)) ids += (header.ids ?? '').slice(at, at + GENERATED_ID_LENGTH);
    at += GENERATED_ID_LENGTH;
  });
  return ids;
}
