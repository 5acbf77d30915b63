// Public types. Field names are those of the HTTP API.

export type PropertyValue = string | number | boolean | null;
export type Properties = Readonly<Record<string, PropertyValue>>;

/** Properties by event type, as `npm run types` of the service writes them. */
export type AnyEvents = Record<string, Readonly<Record<string, unknown>>>;

/**
 * Missing `insert_id`, `time` and `library` are filled in. With the events of a project, another
 * event type or another property is a compile error.
 */
export type TrackedEvent<Events extends object = AnyEvents> = {
  readonly [Name in keyof Events & string]: EventFields & {
    readonly event_type: Name;
    readonly event_properties?: Readonly<Events[Name]>;
  };
}[keyof Events & string];

interface EventFields {
  readonly user_id?: string;
  readonly device_id?: string;
  readonly session_id?: string;
  readonly time?: string | Date;
  readonly insert_id?: string;
  readonly user_properties?: Readonly<Record<string, unknown>>;
}

export interface Identification {
  readonly user_id: string;
  /** Past and future events of this device belong to the user. */
  readonly device_id?: string;
  readonly user_properties?: Readonly<Record<string, unknown>>;
  readonly user_property_ops?: {
    readonly $set?: Readonly<Record<string, unknown>>;
    readonly $set_once?: Readonly<Record<string, unknown>>;
    readonly $add?: Readonly<Record<string, number>>;
    readonly $unset?: readonly string[];
  };
}

export interface ChoiceOptions {
  readonly user_id?: string;
  readonly device_id?: string;
  readonly session_id?: string;
  /** Randomization unit; the user when present. */
  readonly unit?: 'user_id' | 'device_id';
  /** One weight per variant; equal weights when absent. */
  readonly weights?: readonly number[];
  readonly version?: string | number;
  /** Default: `production`. */
  readonly environment?: string;
}

/** An assignment with all data needed to record its exposure. */
export interface Assignment {
  readonly choice_key: string;
  readonly variant_key: string;
  readonly variant_weight: number;
  readonly choice_version?: string | number;
  readonly environment: string;
  readonly randomization_unit: 'user_id' | 'device_id';
  readonly assignment_id: string;
  readonly user_id?: string;
  readonly device_id?: string;
  readonly session_id?: string;
}

export interface QueryOptions {
  readonly limit?: number;
  readonly offset?: number;
  /** IANA time zone for buckets and words such as `today`. */
  readonly timezone?: string;
}

export interface QueryAnswer {
  readonly columns: readonly string[];
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  /** Total of the query, independent of `limit` and `offset`. */
  readonly total: number;
  readonly rows_scanned: number;
  readonly period: string;
  readonly mode: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly [field: string]: unknown;
}

export interface ClientOptions {
  /** A secret key, a public key or an access token; a public key may not query. */
  readonly key: string;
  /** Base URL of the service, for example https://analytics.example.com. */
  readonly host: string;
  /** Project id: makes assignments independent of the key in use. */
  readonly projectId?: string;
  /** Maximum queue length; default 10,000. */
  readonly queueMax?: number;
  /** Called for events that could not be delivered. What it throws, or rejects with, is ignored. */
  readonly onError?: (error: Error, lost: number) => void;
}

/** An error response of the service. */
export class ServiceError extends Error {
  readonly status: number;
  /** For queries: every problem with its position. */
  readonly details: readonly unknown[];

  constructor(status: number, message: string, details: readonly unknown[] = []) {
    super(message);
    this.name = 'ServiceError';
    this.status = status;
    this.details = details;
  }
}
