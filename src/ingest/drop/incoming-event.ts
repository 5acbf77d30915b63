// An incoming event with the values that would be stored for it, for the conditions of drop rules.
// Each value is computed when a condition reads it. A worker computes the same from the envelope
// (insert/replay-events.ts, insert/row.ts).
import { isObject } from '../../platform/json-object.js';
import type { EventColumn, PropertyBag } from '../../query/fields.js';
import type { RawEvent } from '../body.js';
import { isTextOrNone, type OwnClient, tryParseAddress } from '../client-fields.js';
import { type Agent, resolveAgent } from '../enrich/agent.js';
import { GEO_TEXT_FIELDS, type Geography, type GeoTextField } from '../enrich/geography.js';
import { tryParseEventTime } from '../event-time.js';
import { parsePageAddress, referrerDomain } from '../insert/page.js';
import type { UserAgent } from '../insert/user-agent.js';
import { toIdText, toLibraryText, tryOriginOf } from '../schema.js';

/** What the events of a request have in common. */
export interface IncomingRequest {
  /** When it was received, milliseconds. */
  readonly now: number;
  /** The whole address of the client. */
  readonly address: string | undefined;
  /** What is stored of the address. */
  readonly ip: string;
  readonly userAgent: string;
  readonly geography: Geography;
  readonly origin: string;
  /** Whether the user agent of the request is that of the visitor: the key is public. */
  readonly isOfVisitor: boolean;
  /** The client of the event itself; undefined when it has none, or may not have one. */
  readonly resolveOwn: (event: RawEvent) => OwnClient | undefined;
}

export class IncomingEvent {
  readonly #request: IncomingRequest;
  readonly #event: RawEvent;
  #own: { readonly client: OwnClient | undefined } | undefined;

  constructor(request: IncomingRequest, event: RawEvent) {
    this.#request = request;
    this.#event = event;
  }

  #ownClient(): OwnClient | undefined {
    this.#own ??= { client: this.#request.resolveOwn(this.#event) };
    return this.#own.client;
  }

  get eventType(): string {
    return String(this.#event.event_type);
  }

  /** The whole address of the client, empty when there is none. */
  get address(): string {
    const { ip } = this.#event;
    if (this.#ownClient() === undefined || !isTextOrNone(ip)) return this.#request.address ?? '';
    return tryParseAddress(ip ?? undefined) ?? '';
  }

  get userAgent(): string {
    const own = this.#ownClient()?.user_agent;
    return typeof own === 'string' ? own : this.#request.userAgent;
  }

  get time(): number {
    return tryParseEventTime(this.#event.time, this.#request.now) ?? this.#request.now;
  }

  /**
   * Whether the user agent is of a bot. An event of a server has the user agent of that server,
   * unless it names the one of its visitor.
   */
  get isOfBot(): boolean {
    const isOwn = typeof this.#ownClient()?.user_agent === 'string';
    if (!isOwn && (!this.#request.isOfVisitor || this.#origin === 'server')) return false;
    return this.#agent.deviceType === 'bot';
  }

  get #origin(): string {
    return tryOriginOf(this.#event) ?? this.#request.origin;
  }

  get #agent(): UserAgent {
    const own = this.#ownClient()?.agent;
    return resolveAgent(this.userAgent, isObject(own) ? (own as Agent) : undefined);
  }

  get #geography(): Geography {
    const own = this.#ownClient()?.geo;
    return isObject(own) ? (own as Geography) : this.#request.geography;
  }

  /** Undefined when the event has no such property. */
  property(bag: PropertyBag, key: string): unknown {
    const properties = this.#event[bag];
    return isObject(properties) && Object.hasOwn(properties, key) ? properties[key] : undefined;
  }

  /** Text of a column, empty when missing. */
  text(column: EventColumn): string {
    switch (column) {
      case 'event_type':
        return this.eventType;
      case 'user_id':
      case 'device_id':
      case 'session_id':
      case 'insert_id':
        return toIdText(this.#event[column]);
      case 'path':
        return parsePageAddress(this.#promoted('url')).path;
      case 'path_clean':
        return parsePageAddress(this.#promoted('url')).pathClean;
      case 'hostname':
        return parsePageAddress(this.#promoted('url')).hostname;
      case 'url':
      case 'title':
      case 'referrer':
        return this.#promoted(column);
      case 'referrer_domain':
        return this.#promoted('referring_domain') || referrerDomain(this.#promoted('referrer'));
      case 'ip': {
        const own = this.#ownClient()?.ip;
        return typeof own === 'string' ? own : this.#request.ip;
      }
      case 'ua':
        return this.userAgent;
      case 'library':
        return toLibraryText(this.#event.library);
      case 'ingest_origin':
        return this.#origin;
      case 'browser':
      case 'os':
      case 'platform':
        return this.#agent[column];
      case 'browser_version':
        return this.#agent.browserVersion;
      case 'os_version':
        return this.#agent.osVersion;
      case 'device_type':
        return this.#agent.deviceType;
      case 'geo_source':
        return this.#geography.source ?? '';
      default: {
        const field = GEO_FIELDS.get(column);
        if (field === undefined) throw new Error(`${column} is no text of an event`);
        return this.#geography[field] ?? '';
      }
    }
  }

  /** NaN when missing. */
  number(column: 'geo_latitude' | 'geo_longitude'): number {
    return this.#geography[column === 'geo_latitude' ? 'latitude' : 'longitude'] ?? Number.NaN;
  }

  #promoted(key: 'url' | 'title' | 'referrer' | 'referring_domain'): string {
    const value = this.property('event_properties', key);
    return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : '';
  }
}

const GEO_FIELDS: ReadonlyMap<string, GeoTextField> = new Map(GEO_TEXT_FIELDS.map((field) => [`geo_${field}`, field]));
