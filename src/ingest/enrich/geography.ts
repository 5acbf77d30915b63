// Geography lookup (GeoIP) by address in MaxMind-format databases, or from headers of a trusted
// proxy. Two record layouts are supported: MaxMind's (nested, names by language) and the flat one
// of the DB-IP packages.
import { existsSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { IncomingHttpHeaders } from 'node:http';
import ipaddr from 'ipaddr.js';
import { LRUCache } from 'lru-cache';
import { type Response as MmdbRecord, Reader } from 'maxmind';
import { ConfigProblem } from '../../platform/config-problem.js';
import { continentOf } from './continents.js';

export const GEO_TEXT_FIELDS = [
  'country',
  'region',
  'region_code',
  'city',
  'continent',
  'timezone',
  'metro_code',
  'postal_code',
] as const;
export type GeoTextField = (typeof GEO_TEXT_FIELDS)[number];

/** Where the geography of an event comes from: a database, or headers of a trusted proxy. */
const GEO_SOURCES = ['database', 'header'] as const;
export type GeoSource = (typeof GEO_SOURCES)[number];

/**
 * Unknown fields are absent. Country is the ISO 3166-1 code, continent the two-letter code; region
 * and city are names.
 */
export type Geography = Readonly<
  Partial<Record<GeoTextField, string> & Record<'latitude' | 'longitude', number> & { source: GeoSource }>
>;

export type GeographyLookup = (address: string | undefined, headers: IncomingHttpHeaders) => Geography;

/**
 * Parses GEOIP_HEADERS, such as `country=cf-ipcountry,city=cf-ipcity`: the header of a trusted
 * proxy for each field. Throws ConfigProblem for an unknown field.
 */
export function parseGeographyHeaders(text: string | undefined): Partial<Record<GeoTextField, string>> {
  const names: Partial<Record<GeoTextField, string>> = {};
  for (const pair of text?.split(',') ?? []) {
    const [field, header] = pair.split('=').map((part) => part.trim());
    const known = GEO_TEXT_FIELDS.find((name) => name === field);
    if (known === undefined || header === undefined || header === '') {
      throw new ConfigProblem(
        `GEOIP_HEADERS: "${pair}" is not field=header; the fields are ${GEO_TEXT_FIELDS.join(', ')}`,
      );
    }
    names[known] = header;
  }
  return names;
}

const NOWHERE: Geography = Object.freeze({});
const CACHED_ADDRESSES_MAX = 20_000;

/**
 * `databases` are paths; the first database with a record for the address is used. `headerNames`
 * maps a field to a header of the proxy; a country from a header takes precedence over the
 * databases. Throws ConfigProblem at once when a file does not exist.
 *
 * Reading a database takes 100 ms or more. With `readsInBackground` a lookup that needs one throws
 * DatabaseNotRead: see withDatabases.
 */
export function createGeographyLookup(options: {
  databases: readonly string[];
  headerNames: Readonly<Partial<Record<GeoTextField, string>>>;
  readsInBackground?: boolean;
}): GeographyLookup {
  const readers = options.databases.map((path) => openWhenNeeded(path, options.readsInBackground ?? false));
  const cache = new LRUCache<string, Geography>({ max: CACHED_ADDRESSES_MAX });

  function read(address: string): Geography {
    for (const find of readers) {
      const record = find(address);
      if (record !== undefined) return withSource(toGeography(record), 'database');
    }
    return NOWHERE;
  }

  function findByAddress(address: string): Geography {
    const known = cache.get(address);
    if (known !== undefined) return known;
    const geography = isPublic(address) ? read(address) : NOWHERE;
    cache.set(address, geography);
    return geography;
  }

  const headerNames = Object.entries(options.headerNames) as [GeoTextField, string][];
  return (address, headers) => {
    const fromProxy = headerNames.length === 0 ? NOWHERE : fromHeaders(headerNames, headers);
    if (fromProxy.country !== undefined || address === undefined || readers.length === 0) return fromProxy;
    return findByAddress(address);
  };
}

const isPublic = (address: string): boolean => ipaddr.parse(address).range() === 'unicast';

class DatabaseNotRead extends Error {
  constructor(readonly reading: Promise<void>) {
    super('a geography database is being read');
  }
}

/** Calls `decide`, which has no effects, again after each database that it needed first. */
export async function withDatabases<T>(decide: () => T): Promise<T> {
  for (;;) {
    try {
      return decide();
    } catch (error) {
      if (!(error instanceof DatabaseNotRead)) throw error;
      await error.reading;
    }
  }
}

/**
 * Opens a database on the first public address of its family, because each is tens of megabytes and
 * an idle process should not hold it.
 */
function openWhenNeeded(path: string, readsInBackground: boolean): (address: string) => MmdbRecord | undefined {
  if (!existsSync(path)) throw new ConfigProblem(`GEOIP_DATABASE: there is no file ${path}`);
  // A file name may state the address family; otherwise the database is opened for both.
  const family = /ipv([46])[^/]*$/i.exec(path)?.[1];
  let reader: Reader<MmdbRecord> | undefined;
  let reading: Promise<void> | undefined;
  const read = async (): Promise<void> => {
    try {
      reader = new Reader<MmdbRecord>(await readFile(path));
    } finally {
      reading = undefined;
    }
  };
  return (address) => {
    const isIpv6 = address.includes(':');
    if (family !== undefined && (family === '6') !== isIpv6) return undefined;
    if (reader === undefined && readsInBackground) {
      reading ??= read();
      throw new DatabaseNotRead(reading);
    }
    reader ??= new Reader<MmdbRecord>(readFileSync(path));
    // An IPv4-only tree cannot be walked with an IPv6 address.
    if (isIpv6 && reader.metadata.ipVersion === 4) return undefined;
    return reader.get(address) ?? undefined;
  };
}

function fromHeaders(names: readonly [GeoTextField, string][], headers: IncomingHttpHeaders): Geography {
  const geography: Partial<Record<GeoTextField, string>> = {};
  for (const [field, name] of names) {
    const value = headers[name.toLowerCase()];
    if (typeof value === 'string' && value !== '') geography[field] = utf8(value);
  }
  return withSource(withContinent(geography), 'header');
}

/** Node reads the bytes of a header as Latin-1; proxies send names in UTF-8. */
function utf8(value: string): string {
  const text = Buffer.from(value, 'latin1').toString();
  return text.includes('\uFFFD') ? value : text;
}

/** A geography without any field has no source. */
const withSource = (geography: Geography, source: GeoSource): Geography =>
  Object.keys(geography).length === 0 ? NOWHERE : { ...geography, source };

/** Reads a database record of either layout. A country database has fewer of the fields. */
export function toGeography(record: unknown): Geography {
  const nested = textAt(record, 'country', 'iso_code');
  return withContinent(nested === undefined && hasFlatLayout(record) ? fromFlatLayout(record) : fromNested(record));
}

const hasFlatLayout = (record: unknown): boolean => textAt(record, 'country_code') !== undefined;

const fromFlatLayout = (record: unknown): Geography =>
  compact({
    country: textAt(record, 'country_code'),
    region: textAt(record, 'state1'),
    city: textAt(record, 'city'),
    timezone: textAt(record, 'timezone'),
    postal_code: textAt(record, 'postcode'),
    latitude: numberAt(record, 'latitude'),
    longitude: numberAt(record, 'longitude'),
  });

const fromNested = (record: unknown): Geography =>
  compact({
    country: textAt(record, 'country', 'iso_code') ?? textAt(record, 'registered_country', 'iso_code'),
    region: textAt(record, 'subdivisions', '0', 'names', 'en'),
    region_code: textAt(record, 'subdivisions', '0', 'iso_code'),
    city: textAt(record, 'city', 'names', 'en'),
    continent: textAt(record, 'continent', 'code'),
    timezone: textAt(record, 'location', 'time_zone'),
    metro_code: textAt(record, 'location', 'metro_code'),
    postal_code: textAt(record, 'postal', 'code'),
    latitude: numberAt(record, 'location', 'latitude'),
    longitude: numberAt(record, 'location', 'longitude'),
  });

function withContinent(geography: Geography): Geography {
  if (geography.continent !== undefined || geography.country === undefined) return geography;
  const continent = continentOf(geography.country);
  return continent === undefined ? geography : { ...geography, continent };
}

const TEXT_LENGTH_MAX = 256;
const DEGREES = ['latitude', 'longitude'] as const;
const DEGREES_MAX = { latitude: 90, longitude: 180 } as const;

/**
 * Reads the `geo` object of an event. Invalid fields are dropped. `source` is that of an exported
 * event; the sender of any other has none to state.
 */
export function readGeography(sent: Readonly<Record<string, unknown>>): Geography {
  const geography: Record<string, string | number> = {};
  for (const name of GEO_TEXT_FIELDS) {
    const text = textAt(sent, name)?.slice(0, TEXT_LENGTH_MAX);
    if (text !== undefined) geography[name] = text;
  }
  for (const name of DEGREES) {
    const value = numberAt(sent, name);
    if (value !== undefined && Math.abs(value) <= DEGREES_MAX[name]) geography[name] = value;
  }
  const source = GEO_SOURCES.find((name) => name === sent.source);
  if (source !== undefined) geography.source = source;
  return geography;
}

const compact = (fields: Record<string, string | number | undefined>): Geography =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

function valueAt(record: unknown, path: readonly string[]): unknown {
  let value = record;
  for (const key of path) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = (value as Record<string, unknown>)[key];
  }
  return value;
}

function textAt(record: unknown, ...path: string[]): string | undefined {
  const value = valueAt(record, path);
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function numberAt(record: unknown, ...path: string[]): number | undefined {
  const value = valueAt(record, path);
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}
