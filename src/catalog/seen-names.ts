// Names that occur in a block of events, by project: collected while the rows are encoded, at a few
// nanoseconds per value, and compared with the known names once per block.
import type { Geography, GeoTextField } from '../ingest/enrich/geography.js';
import type { PageAddress } from '../ingest/insert/page.js';
import type { AcceptedEvent } from '../ingest/insert/replay-events.js';
import type { UserAgent } from '../ingest/insert/user-agent.js';
import { BOUNDS } from '../platform/flow/bounds.js';
import type { AnyBag } from '../query/fields.js';
import {
  type CatalogName,
  isStorable,
  PROPERTY_TYPES,
  type PropertyType,
  propertyField,
  VALUE_COLUMN_NAMES,
  VALUE_COLUMNS,
  type ValueColumn,
} from './names.js';

/** Whether the catalog keeps no values of a field, because it has many. */
export type HasManyValues = (field: string) => boolean;

// A catalog lists as many event types as it has room for, which `KnownNames` decides.
const EVENT_TYPES_KEPT = { max: Number.POSITIVE_INFINITY, lengthMax: Number.POSITIVE_INFINITY };
// Longer texts are no names of something: a field that has one is not listed.
const VALUES_KEPT = { max: BOUNDS.catalogFieldValues, lengthMax: BOUNDS.catalogValueLength };

interface Counter {
  events: number;
}

/** Texts with their counts, until there are too many. */
class SeenTexts {
  readonly #max: number;
  readonly #lengthMax: number;
  /** Undefined: there are too many. */
  #counters: Map<string, Counter> | undefined;
  // Neighbouring rows often have the same value.
  #lastText: string | undefined;
  #last: Counter = { events: 0 };

  constructor(limits: { readonly max: number; readonly lengthMax: number }, isMany = false) {
    this.#max = limits.max;
    this.#lengthMax = limits.lengthMax;
    this.#counters = isMany ? undefined : new Map();
  }

  get isMany(): boolean {
    return this.#counters === undefined;
  }

  add(text: string, events = 1): void {
    if (this.#counters === undefined) return;
    if (text !== this.#lastText) {
      this.#last = this.#counters.get(text) ?? this.#start(this.#counters, text);
      this.#lastText = text;
    }
    this.#last.events += events;
  }

  /** The empty text is not a value. */
  *counts(): Iterable<[text: string, events: number]> {
    for (const [text, { events }] of this.#counters ?? []) if (text !== '') yield [text, events];
  }

  #start(counters: Map<string, Counter>, text: string): Counter {
    const counter = { events: 0 };
    counters.set(text, counter);
    if (counters.size > this.#max + 1 || text.length > this.#lengthMax) this.#counters = undefined;
    return counter;
  }
}

interface SeenKey {
  readonly key: string;
  readonly texts: SeenTexts | undefined;
  events: number;
}

/**
 * Keys of the properties of one project in one block. A key is looked up by its index in the
 * dictionary of the column, which the caller has found already.
 */
export class SeenProperties {
  readonly #bag: AnyBag;
  readonly #hasMany: HasManyValues;
  readonly #keys: Record<PropertyType, (SeenKey | undefined)[]> = { string: [], number: [], boolean: [], null: [] };
  #size = 0;

  constructor(bag: AnyBag, hasMany: HasManyValues) {
    this.#bag = bag;
    this.#hasMany = hasMany;
  }

  addText(index: number, key: string, text: string): void {
    const seen = this.#keys.string[index] ?? this.#start('string', index, key);
    if (seen === undefined) return;
    seen.events += 1;
    seen.texts?.add(text);
  }

  add(type: Exclude<PropertyType, 'string'>, index: number, key: string): void {
    const seen = this.#keys[type][index] ?? this.#start(type, index, key);
    if (seen !== undefined) seen.events += 1;
  }

  *names(): Iterable<CatalogName> {
    for (const type of PROPERTY_TYPES) {
      for (const seen of this.#keys[type]) {
        if (seen === undefined || !isStorable(seen.key)) continue;
        const field = propertyField(this.#bag, seen.key);
        yield { kind: 'key', field, name: type, events: seen.events };
        if (seen.texts) yield* namesOf(field, seen.texts);
      }
    }
    if (this.#size > BOUNDS.catalogKeys) yield { kind: 'many', field: this.#bag, name: '', events: 0 };
  }

  #start(type: PropertyType, index: number, key: string): SeenKey | undefined {
    this.#size += 1;
    if (this.#size > BOUNDS.catalogKeys) return undefined;
    const texts =
      type === 'string' ? new SeenTexts(VALUES_KEPT, this.#hasMany(propertyField(this.#bag, key))) : undefined;
    const seen = { key, texts, events: 0 };
    this.#keys[type][index] = seen;
    return seen;
  }
}

function* namesOf(field: string, texts: SeenTexts): Iterable<CatalogName> {
  for (const [name, events] of texts.counts()) {
    if (isStorable(name)) yield { kind: 'value', field, name, events };
  }
  if (texts.isMany) yield { kind: 'many', field, name: '', events: 0 };
}

/** The columns of a block whose values are counted by their index. */
export interface Dictionaries {
  readonly event_type: Dictionary;
  readonly hostname: Dictionary;
  readonly referrer_domain: Dictionary;
}
interface Dictionary {
  values(): Iterable<string>;
}

/** Counts by index in the dictionary of a column. */
class SeenIndexes {
  readonly #counts: number[] = [];

  add(index: number): void {
    this.#counts[index] = (this.#counts[index] ?? 0) + 1;
  }

  addTo(texts: SeenTexts, dictionary: Dictionary): void {
    let index = 0;
    for (const text of dictionary.values()) {
      const events = this.#counts[index];
      if (events !== undefined) texts.add(text, events);
      index += 1;
    }
    this.#counts.length = 0;
  }
}

/** Names of one project in one block. */
export class SeenNames {
  readonly eventTypes = new SeenIndexes();
  readonly eventProperties: SeenProperties;
  readonly userProperties: SeenProperties;
  readonly #dictionaries: Dictionaries;
  readonly #types = new SeenTexts(EVENT_TYPES_KEPT);
  readonly #values: Readonly<Record<ValueColumn, SeenTexts>>;
  readonly #hostnames = new SeenIndexes();
  readonly #referrerDomains = new SeenIndexes();
  #client: Client | undefined;
  #clientEvents = 0;

  constructor(dictionaries: Dictionaries, hasMany: HasManyValues) {
    const values = VALUE_COLUMN_NAMES.map((column) => [
      column,
      new SeenTexts(VALUES_KEPT, hasMany(VALUE_COLUMNS[column])),
    ]);
    this.#dictionaries = dictionaries;
    this.#values = Object.fromEntries(values) as Record<ValueColumn, SeenTexts>;
    this.eventProperties = new SeenProperties('event_properties', hasMany);
    this.userProperties = new SeenProperties('user_properties', hasMany);
  }

  /** The events of a request have the same client, mostly. */
  addClient(agent: UserAgent, geography: Geography, { library, origin }: ClientEvent): void {
    const last = this.#client;
    const isSame = last?.agent === agent && last.geography === geography && last.origin === origin;
    if (!isSame || last.library !== library) {
      this.#countClient();
      this.#client = { agent, geography, library, origin };
    }
    this.#clientEvents += 1;
  }

  addPage(
    { path, pathClean }: PageAddress,
    index: { readonly hostname: number; readonly referrerDomain: number },
  ): void {
    this.#values.path.add(path);
    this.#values.path_clean.add(pathClean);
    this.#hostnames.add(index.hostname);
    this.#referrerDomains.add(index.referrerDomain);
  }

  *names(): Iterable<CatalogName> {
    this.#countClient();
    this.eventTypes.addTo(this.#types, this.#dictionaries.event_type);
    this.#hostnames.addTo(this.#values.hostname, this.#dictionaries.hostname);
    this.#referrerDomains.addTo(this.#values.referrer_domain, this.#dictionaries.referrer_domain);
    for (const [name, events] of this.#types.counts()) {
      if (isStorable(name)) yield { kind: 'event', field: '', name, events };
    }
    yield* this.eventProperties.names();
    yield* this.userProperties.names();
    for (const column of VALUE_COLUMN_NAMES) yield* namesOf(VALUE_COLUMNS[column], this.#values[column]);
  }

  #countClient(): void {
    if (this.#client === undefined || this.#clientEvents === 0) return;
    const { agent, geography, library, origin } = this.#client;
    const [values, events] = [this.#values, this.#clientEvents];
    this.#clientEvents = 0;
    values.browser.add(agent.browser, events);
    values.browser_version.add(agent.browserVersion, events);
    values.os.add(agent.os, events);
    values.os_version.add(agent.osVersion, events);
    values.platform.add(agent.platform, events);
    values.device_type.add(agent.deviceType, events);
    for (const [column, field] of GEOGRAPHY) values[column].add(geography[field] ?? '', events);
    values.library.add(library, events);
    values.ingest_origin.add(origin, events);
  }
}

type ClientEvent = Pick<AcceptedEvent, 'library' | 'origin'>;

interface Client extends ClientEvent {
  readonly agent: UserAgent;
  readonly geography: Geography;
}

const GEOGRAPHY = [
  ['geo_country', 'country'],
  ['geo_region', 'region'],
  ['geo_region_code', 'region_code'],
  ['geo_city', 'city'],
  ['geo_continent', 'continent'],
  ['geo_timezone', 'timezone'],
  ['geo_metro_code', 'metro_code'],
  ['geo_postal_code', 'postal_code'],
  ['geo_source', 'source'],
] as const satisfies readonly (readonly [ValueColumn, GeoTextField | 'source'])[];

/** Whether the catalog of a project keeps no values of a field. */
export type HasMany = (projectId: string, field: string) => boolean;

/** Names of all projects of a block. */
export class BlockNames {
  readonly #dictionaries: Dictionaries;
  readonly #hasMany: HasMany;
  readonly #byProject = new Map<string, SeenNames>();
  #lastId: string | undefined;
  #last: SeenNames | undefined;

  constructor(dictionaries: Dictionaries, hasMany: HasMany) {
    this.#dictionaries = dictionaries;
    this.#hasMany = hasMany;
  }

  get projects(): ReadonlyMap<string, SeenNames> {
    return this.#byProject;
  }

  of(projectId: string): SeenNames {
    if (this.#last !== undefined && projectId === this.#lastId) return this.#last;
    const seen = this.#byProject.get(projectId) ?? this.#start(projectId);
    this.#lastId = projectId;
    this.#last = seen;
    return seen;
  }

  #start(projectId: string): SeenNames {
    const seen = new SeenNames(this.#dictionaries, (field) => this.#hasMany(projectId, field));
    this.#byProject.set(projectId, seen);
    return seen;
  }
}
