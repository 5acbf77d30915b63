// Takes events out of an accepted request that is still on its way: what remains is stored exactly as it would have been
// beside them.
import { GENERATED_ID_LENGTH } from './accept.js';
import { isObject, parseTrackBody } from './body.js';
import type { Envelope, EnvelopeHeader } from './envelope.js';
import { type AcceptedEvent, replayEvents } from './replay-events.js';
import { toIdText } from './schema.js';
import { serializeEvents } from './serialize-events.js';

export interface Remaining {
  /** Undefined when nothing remains; the very envelope when nothing was taken out. */
  readonly envelope: Envelope | undefined;
  readonly removed: readonly AcceptedEvent[];
}

export function removeEvents(
  envelope: Envelope,
  isRemoved: (event: AcceptedEvent, position: number) => boolean,
): Remaining {
  const gone = new Map<number, AcceptedEvent>();
  replayEvents(envelope, (event, position) => {
    if (isRemoved(event, position)) gone.set(position, event);
  });
  const removed = [...gone.values()];
  if (removed.length === envelope.header.n) return { envelope: undefined, removed };
  // Events that were never accepted stay in the bytes of their request, and may be anyone's.
  const isWhole = removed.length === 0 && envelope.header.skip === undefined;
  return { envelope: isWhole ? envelope : rewrite(envelope, gone), removed };
}

/** Positions stay what they are, since times that are remembered go by position; what is taken out becomes a null. */
function rewrite({ header, body }: Envelope, gone: ReadonlyMap<number, AcceptedEvent>): Envelope {
  const skip = new Set([...(header.skip ?? []), ...gone.keys()]);
  const { skip: _skip, ids: _ids, ...rest } = header;
  const { events } = parseTrackBody(body);
  const ids = remainingIds(events, header, gone);
  const kept = events.map((event, position) => (skip.has(position) ? null : event));
  return {
    header: {
      ...rest,
      n: header.n - gone.size,
      ...(skip.size > 0 && { skip: [...skip].sort((a, b) => a - b) }),
      ...(ids !== '' && { ids }),
    },
    body: serializeEvents(kept, { own: header.own === true }),
  };
}

/** Made ids are dealt out in order, so those of events that are gone go as well. */
function remainingIds(
  events: readonly unknown[],
  header: EnvelopeHeader,
  gone: ReadonlyMap<number, AcceptedEvent>,
): string {
  const skipped = new Set(header.skip);
  let ids = '';
  let at = 0;
  events.forEach((event, position) => {
    if (skipped.has(position) || !isObject(event) || toIdText(event.insert_id) !== '') return;
    if (!gone.has(position)) ids += (header.ids ?? '').slice(at, at + GENERATED_ID_LENGTH);
    at += GENERATED_ID_LENGTH;
  });
  return ids;
}
