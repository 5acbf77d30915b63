// Helpers of the oracle's tests: histories written by hand, and queries at a fixed time on a Friday
// morning.
import { answer } from '../../oracle/answer.js';
import { type DeviceMapping, type Event, event, PROJECT, type Profile } from '../../oracle/history.js';
import type { Question } from '../../oracle/question.js';
import type { Answer, Row } from '../../oracle/table.js';

/** A Friday; the Monday of its week is the 16th. */
export const NOW = Date.parse('2026-11-20T09:30:00Z');

export const at = (text: string): number => Date.parse(text.includes('T') ? text : `${text}T12:00:00Z`);

/** Minutes before now. */
export const ago = (minutes: number): number => NOW - minutes * 60_000;

/** An event of a user, with further known fields. */
export function by(user: string, event_type: string, time: number, known: Partial<Event> = {}): Event {
  return event({ event_type, time, user_id: user, ...known }, known.insert_id ?? `${user}-${event_type}-${time}`);
}

export function mapping(device_id: string, user_id: string, updated_at = 0): DeviceMapping {
  return { project: PROJECT, device_id, user_id, updated_at };
}

export function profile(user_id: string, known: Partial<Profile> = {}): Profile {
  const email = known.email ?? null;
  return {
    project: PROJECT,
    user_id,
    email_domain: email === null ? null : email.slice(email.indexOf('@') + 1),
    first_seen: NOW - 2000,
    last_seen: NOW - 1000,
    properties: {},
    ...known,
    email,
  };
}

export interface Given {
  readonly events?: readonly Event[];
  readonly mappings?: readonly DeviceMapping[];
  readonly profiles?: readonly Profile[];
  readonly timezone?: string;
  readonly now?: number;
  readonly project?: string;
}

export function ask(question: Question, given: Given): Answer {
  const { events = [], mappings = [], profiles = [], timezone = 'UTC', now = NOW, project = PROJECT } = given;
  return answer(question, { events, mappings, profiles }, { now, timezone, project });
}

/** Rows as tuples in the order of the columns. */
export function tuples(question: Question, given: Given): unknown[][] {
  const { columns, rows } = ask(question, given);
  return rows.map((row: Row) => columns.map((column) => row[column]));
}
