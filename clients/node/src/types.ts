// What callers hand in and get back. Names are those of the wire.

export type PropertyValue = string | number | boolean | null;
export type Properties = Readonly<Record<string, PropertyValue>>;

/** `insert_id`, `time` and `library` are set where they are missing. */
export interface TrackedEvent {
  readonly event_type: string;
  readonly user_id?: string;
  readonly device_id?: string;
  readonly session_id?: string;
  readonly time?: string | Date;
  readonly insert_id?: string;
  readonly event_properties?: Readonly<Record<string, unknown>>;
  readonly user_properties?: Readonly<Record<string, unknown>>;
}

export interface Identification {
  readonly user_id: string;
  /** Its events so far, and from now on, are this user's. */
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
  /** Whose variant it is; the user's when there is one. */
  readonly unit?: 'user_id' | 'device_id';
  /** One for each variant; without them all weigh the same. */
  readonly weights?: readonly number[];
  readonly version?: string | number;
  /** `production` without. */
  readonly environment?: string;
}

/** A decision, and everything that recording it takes. */
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
  /** IANA name; buckets and words such as `today` follow it. */
  readonly timezone?: string;
}

export interface QueryAnswer {
  readonly columns: readonly string[];
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  /** Of the query, whatever `limit` and `offset` show. */
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
  /** Where the service is, for example https://analytics.example.com. */
  readonly host: string;
  /** Makes choices the same whatever key is in use: give it to every client. */
  readonly projectId?: string;
  /** What is held while it waits to be sent; 10,000 without. */
  readonly queueMax?: number;
  /** Told of what could not be delivered. */
  readonly onError?: (error: Error, lost: number) => void;
}

/** An answer of the service that is not a success. */
export class ServiceError extends Error {
  readonly status: number;
  /** Of a query: every mistake, with its place. */
  readonly details: readonly unknown[];

  constructor(status: number, message: string, details: readonly unknown[] = []) {
    super(message);
    this.name = 'ServiceError';
    this.status = status;
    this.details = details;
  }
}
