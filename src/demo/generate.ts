// The demo shop: people, their visits in the order of time, and the events of each visit. The same
// seed, number of people and end give the same events.
import { createDayPicker } from './calendar.js';
import { createPerson, type Device, type Person, type User, type Visit } from './people.js';
import { createVisit, type ShopEvent } from './visits.js';

export interface ShopOptions {
  readonly seed: string;
  readonly people: number;
  /** The end of the 90 days, milliseconds. */
  readonly endMs: number;
  readonly library: string;
}

/** Request body of POST /identify. */
export interface Identification {
  readonly user_id: string;
  readonly device_id: string;
  readonly user_properties: User['properties'];
}

export interface Shop {
  readonly visitCount: number;
  /** One per device of a user. */
  readonly identifications: readonly Identification[];
  /**
   * The events of one visit after the other. They are made when asked for: all of them take
   * hundreds of megabytes.
   */
  visits(): Iterable<readonly ShopEvent[]>;
}

/** With them the shop has about 200,000 events. */
export const PEOPLE_DEFAULT = 15_000;

export function generateShop(options: ShopOptions): Shop {
  const source = { ...options, pickDay: createDayPicker(options.endMs) };
  const people = Array.from({ length: options.people }, (_, index) => createPerson(source, index));
  const planned = people.flatMap((person) => person.visits.map((visit) => ({ person, visit })));
  planned.sort((a, b) => a.visit.timeMs - b.visit.timeMs || a.person.index - b.person.index);
  return {
    visitCount: planned.length,
    identifications: people.flatMap(identify),
    *visits() {
      for (const { person, visit } of planned) yield createVisit(options, person, visit);
    },
  };
}

function identify({ user, visits }: Person): Identification[] {
  if (user === undefined) return [];
  const devices = new Set<Device>(visits.filter(isOfUser).map(({ device }) => device));
  return [...devices].map(({ id }) => ({ user_id: user.id, device_id: id, user_properties: user.properties }));
}

const isOfUser = ({ kind }: Visit): boolean => kind !== 'anonymous';
