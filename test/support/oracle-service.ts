// The service side of the oracle comparison: stores random histories in the real engine, each under
// its own project ids, and runs queries through the compiler, the engine and the JSON format.
import { randomUUID } from 'node:crypto';
import { type Catalog, toCatalog } from '../../src/catalog/catalog.js';
import { propertyField } from '../../src/catalog/names.js';
import type { ClickHouseClient } from '../../src/platform/clickhouse/client.js';
import { toProjectId } from '../../src/platform/ids.js';
import { tryParseNumberText } from '../../src/platform/number-text.js';
import type { Definitions } from '../../src/query/definitions/definitions.js';
import type { AnyBag } from '../../src/query/fields.js';
import { formatJson } from '../../src/query-api/formats/json.js';
import { createPropertyGuesses } from '../../src/query-api/property-guesses.js';
import type { Answer } from '../../src/query-api/shape.js';
import type { ServiceAnswer } from '../oracle/compare.js';
import type { DeviceMapping, Event, History, Profile, Properties } from '../oracle/history.js';
import { PROJECT } from '../oracle/history.js';
import type { Context } from '../oracle/world.js';
import { startQueryService } from './query-service.js';

const ROWS_MAX = 10_000;
/** One in so many histories has no catalog, so that each property starts with the guess `text`. */
const UNKNOWN_EVERY = 4;

export interface StoredHistory {
  readonly history: History;
  readonly context: Context;
}

export interface AskedWith {
  readonly definitions?: Definitions;
  /** All rows are asked for without these. */
  readonly limit?: number;
  readonly offset?: number;
}

export type Ask = (text: string, options?: AskedWith) => Promise<Answer>;

export interface OracleService {
  /**
   * Stores the histories together, each in order, and returns the query function of each main
   * project.
   */
  store(histories: readonly StoredHistory[]): Promise<Ask[]>;
  close(): Promise<void>;
}

export async function startOracleService(): Promise<OracleService> {
  const catalogs = new Map<string, Catalog>();
  const guesses = createPropertyGuesses((projectId) => catalogs.get(projectId));
  const service = await startQueryService(undefined, guesses);
  let stored = 0;
  return {
    store: async (histories) => {
      const projects = histories.map(() => createProjectIds());
      const rows = histories.map(({ history }, index) => toRows(history, projects[index] ?? createProjectIds()));
      await storeRows(service.clickhouse, rows);
      return histories.map(({ context, history }, index) => {
        const projectId = toProjectId(projects[index]?.(PROJECT) ?? '');
        // A rejected guess is a statement of its own, which would be a third of all.
        if (stored++ % UNKNOWN_EVERY > 0) catalogs.set(projectId, catalogOf(history));
        const at = { nowMs: context.now, timezone: context.timezone, limit: ROWS_MAX, offset: 0 };
        return (text, options) => service.ask(projectId, text, { ...at, ...options });
      });
    },
    close: () => service.close(),
  };
}

/** The types of all properties, as a project's catalog has them. */
function catalogOf({ events, profiles }: History): Catalog {
  const bags: Readonly<Record<AnyBag, readonly Properties[]>> = {
    event_properties: events.map(({ event_properties }) => event_properties),
    user_properties: events.map(({ user_properties }) => user_properties),
    user: profiles.map(({ properties }) => properties),
  };
  const properties = (Object.keys(bags) as AnyBag[]).flatMap((bag) =>
    [...typesOf(bags[bag])].map(([key, types]) => [propertyField(bag, key), [...types]] as const),
  );
  return { ...toCatalog([], true), properties: new Map(properties) };
}

/** The types of the values by key, without those of null. */
function typesOf(bags: readonly Properties[]): ReadonlyMap<string, ReadonlySet<string>> {
  const types = new Map<string, Set<string>>();
  for (const [key, value] of bags.flatMap((bag) => Object.entries(bag))) {
    if (value !== null) types.set(key, (types.get(key) ?? new Set()).add(typeof value));
  }
  return types;
}

type IdOf = (project: string) => string;

/** A new id for each project name. */
function createProjectIds(): IdOf {
  const ids = new Map<string, string>();
  return (project) => {
    const id = ids.get(project) ?? randomUUID();
    ids.set(project, id);
    return id;
  };
}

export const toServiceAnswer = (answered: Answer): ServiceAnswer => JSON.parse(formatJson(answered)) as ServiceAnswer;

/**
 * Rows of one history. The events are in two blocks, so that duplicates occur within one and across
 * both.
 */
function toRows({ events, mappings, profiles }: History, idOf: IdOf) {
  const eventRows = events.map((event) => toEventRow(event, idOf));
  const middle = Math.ceil(eventRows.length / 2);
  return {
    firstEvents: eventRows.slice(0, middle),
    secondEvents: eventRows.slice(middle),
    mappings: mappings.map((mapping) => toMappingRow(mapping, idOf)),
    profiles: profiles.map((profile) => toProfileRow(profile, idOf)),
  };
}

async function storeRows(clickhouse: ClickHouseClient, histories: readonly ReturnType<typeof toRows>[]): Promise<void> {
  const insert = async (table: string, values: object[]) => {
    if (values.length > 0) await clickhouse.insert({ table, values, format: 'JSONEachRow' });
  };
  await insert(
    'events_landing',
    histories.flatMap(({ firstEvents }) => firstEvents),
  );
  await insert(
    'events_landing',
    histories.flatMap(({ secondEvents }) => secondEvents),
  );
  await insert(
    'device_map',
    histories.flatMap(({ mappings }) => mappings),
  );
  await insert(
    'profiles',
    histories.flatMap(({ profiles }) => profiles),
  );
}

const PROMOTED = [
  'utm_source',
  'utm_medium',
  'utm_campaign',
  'utm_term',
  'utm_content',
  'gclid',
  'fbclid',
  'language',
  'timezone',
];

function toEventRow(event: Event, idOf: IdOf): object {
  const derived = Object.entries(event.derived).map(([field, value]) => [field.slice(1), value]);
  const promoted = PROMOTED.map((key) => {
    const value = Object.hasOwn(event.event_properties, key) ? event.event_properties[key] : null;
    return [key, typeof value === 'string' || typeof value === 'number' ? String(value) : ''];
  });
  return {
    project_id: idOf(event.project),
    event_type: event.event_type,
    time: toEngineTime(event.time),
    insert_id: event.insert_id,
    user_id: event.user_id ?? '',
    device_id: event.device_id ?? '',
    session_id: event.session_id ?? '',
    geo_latitude: 'nan',
    geo_longitude: 'nan',
    ...Object.fromEntries(derived),
    ...Object.fromEntries(promoted),
    ...toBuckets('ep', event.event_properties),
    ...toBuckets('up', event.user_properties),
  };
}

/** As the worker stores them: a numeric text is in both maps. */
function toBuckets(prefix: string, properties: Properties): object {
  const entries = Object.entries(properties);
  const ofType = (type: string) => Object.fromEntries(entries.filter(([, value]) => typeof value === type));
  const numbers = entries.flatMap(([key, value]) => {
    const number = typeof value === 'string' ? tryParseNumberText(value) : value;
    return typeof number === 'number' ? [[key, number]] : [];
  });
  return {
    [`${prefix}_str`]: ofType('string'),
    [`${prefix}_num`]: Object.fromEntries(numbers),
    [`${prefix}_bool`]: ofType('boolean'),
    [`${prefix}_null`]: entries.flatMap(([key, value]) => (value === null ? [key] : [])),
  };
}

const toMappingRow = (mapping: DeviceMapping, idOf: IdOf): object => ({
  project_id: idOf(mapping.project),
  device_id: mapping.device_id,
  user_id: mapping.user_id,
  updated_at: toEngineTime(mapping.updated_at),
});

const toProfileRow = (profile: Profile, idOf: IdOf): object => {
  const { props_null: _, ...buckets } = toBuckets('props', profile.properties) as Record<string, unknown>;
  return {
    project_id: idOf(profile.project),
    user_id: profile.user_id,
    email: profile.email ?? '',
    email_domain: profile.email_domain ?? '',
    first_seen: toEngineTime(profile.first_seen),
    last_seen: toEngineTime(profile.last_seen),
    ...buckets,
    version: 1,
    deleted: 0,
  };
};

const toEngineTime = (ms: number): string => new Date(ms).toISOString().replace('T', ' ').replace('Z', '');
