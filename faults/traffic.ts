// Traffic with verifiable outcomes: events with unique ids, and identify calls for users of a
// single client each, with a model of the expected profile.
import { setTimeout as delay } from 'node:timers/promises';
import { createSender, type Mischief, type Outcome, type Sender } from './client.js';
import type { Random } from './random.js';

export interface EventLedger {
  readonly sent: Set<string>;
  readonly acknowledged: Set<string>;
}

/** Expected profile of a user. Unanswered calls may have been accepted or not. */
export interface ProfileModel {
  /** Sums of the acknowledged increments, and of those with an unknown outcome. */
  added: number;
  maybeAdded: number;
  /** The last acknowledged value, and unknown ones, which may be applied at any later time. */
  value: number;
  maybeValues: number[];
}

const BATCH_EVENTS_MAX = 200;
const PAUSE_MS_MAX = 60;

/** Sends until stopped. Ids are unique to the client and the run. */
async function trackUntil(
  stop: AbortSignal,
  options: { sender: Sender; random: Random; client: string; ledger: EventLedger },
): Promise<void> {
  const { sender, random, client, ledger } = options;
  for (let batch = 0; !stop.aborted; batch += 1) {
    const time = new Date().toISOString();
    const events = Array.from({ length: random.between(1, BATCH_EVENTS_MAX) }, (_, position) => ({
      event_type: random.pick(['page_view', 'signup', 'purchase']),
      insert_id: `${client}-${batch}-${position}`,
      time,
      device_id: `device-${random.between(1, 500)}`,
      event_properties: { amount: random.between(1, 100), client },
    }));
    for (const { insert_id } of events) ledger.sent.add(insert_id);
    const outcome = await sender.send(
      '/track',
      events.length === 1 && events[0] !== undefined ? events[0] : { events },
    );
    if (outcome === 'acknowledged') for (const { insert_id } of events) ledger.acknowledged.add(insert_id);
    await delay(random.between(0, PAUSE_MS_MAX));
  }
}

const newProfileModel = (): ProfileModel => ({ added: 0, maybeAdded: 0, value: 0, maybeValues: [] });

/** Increases `value` with $set and adds to `total` with $add, for one user at a time. */
async function identifyUntil(
  stop: AbortSignal,
  options: { sender: Sender; random: Random; users: ReadonlyMap<string, ProfileModel> },
): Promise<void> {
  const { sender, random, users } = options;
  for (let call = 1; !stop.aborted; call += 1) {
    const [userId, model] = random.pick([...users]);
    const increment = random.between(1, 1000);
    const outcome = await sender.send('/identify', {
      user_id: userId,
      device_id: `device-of-${userId}`,
      user_properties: { value: call },
      user_property_ops: { $add: { total: increment } },
    });
    applyOutcome(model, { outcome, increment, value: call });
    await delay(random.between(0, PAUSE_MS_MAX));
  }
}

function applyOutcome(model: ProfileModel, call: { outcome: Outcome; increment: number; value: number }): void {
  switch (call.outcome) {
    case 'acknowledged':
      model.added += call.increment;
      model.value = call.value;
      return;
    case 'unknown':
      model.maybeAdded += call.increment;
      model.maybeValues.push(call.value);
      return;
    case 'refused':
      return;
  }
}

export interface Traffic {
  readonly events: EventLedger;
  readonly profiles: ReadonlyMap<string, ProfileModel>;
  readonly mischief: Readonly<Mischief>;
  /** Resolves when every client has finished its current request. */
  stop(): Promise<void>;
}

export function startTraffic(options: {
  url: string;
  key: string;
  clients: number;
  random: Random;
  run: string;
}): Traffic {
  const { url, key, clients, random, run } = options;
  const stopped = new AbortController();
  const events: EventLedger = { sent: new Set(), acknowledged: new Set() };
  const profiles = new Map<string, ProfileModel>();
  const mischief: Mischief = { hungUp: 0, sentTwice: 0 };
  const work: Promise<void>[] = [];
  for (let client = 0; client < clients; client += 1) {
    const name = `${run}-${client}`;
    work.push(
      trackUntil(stopped.signal, {
        sender: createSender({ url, key, random, mischief }),
        random,
        client: name,
        ledger: events,
      }),
    );
    const users = new Map([1, 2, 3].map((number) => [`${name}-user-${number}`, newProfileModel()]));
    for (const [userId, model] of users) profiles.set(userId, model);
    work.push(identifyUntil(stopped.signal, { sender: createSender({ url, key, random, mischief }), random, users }));
  }
  return {
    events,
    profiles,
    mischief,
    stop: async () => {
      stopped.abort();
      await Promise.all(work);
    },
  };
}
