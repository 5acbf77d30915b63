// Probes of tenant B while A attacks: each runs in a loop at a modest rate and measures the time to
// success. A rejected request is repeated, as a client would do, and the time counts.
import { setTimeout as delay } from 'node:timers/promises';
import { type Stack, selectNumber } from '../../bench/stack.js';
import { ERASED_PEOPLE, EXPORTED_PERSON, erasedPerson, type Tenant } from './tenants.js';

export type ProbeKind = 'ingestion' | 'reading' | 'erasure';

export const PROBES = {
  track: 'ingestion',
  counted: 'ingestion',
  identify: 'ingestion',
  query: 'reading',
  dashboard: 'reading',
  export: 'reading',
  erasure: 'erasure',
} as const satisfies Record<string, ProbeKind>;
export type ProbeName = keyof typeof PROBES;

export interface Sample {
  readonly ms: number;
  /** The sample had not ended when the measurement did: its time is a lower bound. */
  readonly isCut: boolean;
  readonly refusals: number;
}

export type Samples = Readonly<Record<ProbeName, readonly Sample[]>>;

/** Pause between two samples. */
export const PAUSE_MS: Readonly<Record<ProbeName, number>> = {
  track: 40,
  counted: 50,
  identify: 80,
  query: 200,
  dashboard: 200,
  export: 300,
  erasure: 300,
};
const REFUSED_PAUSE_MS = 250;
const COUNTED_POLL_MS = 20;
const DASHBOARD_KEY = 'overview';

/** One attempt; resolves with whether it succeeded. */
type Attempt = (signal: AbortSignal) => Promise<boolean>;

export class Neighbour {
  readonly #stack: Pick<Stack, 'clickhouse'>;
  readonly #tenant: Tenant;
  #dashboardId = '';
  #sent = 0;
  #erased = 0;

  constructor(stack: Pick<Stack, 'clickhouse'>, tenant: Tenant) {
    this.#stack = stack;
    this.#tenant = tenant;
  }

  /** Creates the dashboard that is read. */
  async prepare(): Promise<void> {
    const { url, secretKey } = this.#tenant;
    const response = await fetch(`${url}/api/dashboard-sync/${DASHBOARD_KEY}`, {
      method: 'PUT',
      headers: { 'X-API-Key': secretKey, 'Content-Type': 'application/json' },
      body: JSON.stringify({ source_yaml: DASHBOARD }),
    });
    if (!response.ok) throw new Error(`the dashboard was refused: ${await response.text()}`);
    const { dashboard } = (await response.json()) as { dashboard: { id: string } };
    this.#dashboardId = dashboard.id;
  }

  /** Runs every probe for `durationMs`, plus `graceMs` for samples in progress. */
  async measure(times: { durationMs: number; graceMs: number }): Promise<Samples> {
    return this.measureSome(Object.keys(PROBES) as ProbeName[], times);
  }

  async measureSome<Name extends ProbeName>(
    names: readonly Name[],
    { durationMs, graceMs }: { durationMs: number; graceMs: number },
  ): Promise<Pick<Samples, Name>> {
    const end = Date.now() + durationMs;
    const signal = AbortSignal.timeout(durationMs + graceMs);
    const entries = names.map(async (name) => {
      const samples: Sample[] = [];
      while (Date.now() < end && !signal.aborted) {
        samples.push(await this.#sample(name, signal));
        await delay(PAUSE_MS[name]);
      }
      return [name, samples] as const;
    });
    return Object.fromEntries(await Promise.all(entries)) as unknown as Pick<Samples, Name>;
  }

  async #sample(name: ProbeName, signal: AbortSignal): Promise<Sample> {
    const startedAt = performance.now();
    const attempt = this.#attemptOf(name);
    for (let refusals = 0; ; refusals += 1) {
      const isDone = await attempt(signal).catch(() => false);
      const ms = performance.now() - startedAt;
      if (isDone || signal.aborted) return { ms, isCut: !isDone, refusals };
      await delay(REFUSED_PAUSE_MS);
    }
  }

  #attemptOf(name: ProbeName): Attempt {
    const { projectId } = this.#tenant;
    switch (name) {
      case 'track':
        return this.#post('/track', { event_type: 'probe', device_id: 'probe' });
      case 'counted':
        return this.#attemptCounted();
      case 'identify':
        return this.#post('/identify', {
          user_id: 'person-1',
          device_id: 'probe',
          user_properties: { seen: Date.now() },
        });
      case 'query':
        return this.#post('/query', { q: '* | last 1d | count by event_type', format: 'json' });
      case 'dashboard':
        return this.#get(`/api/projects/${projectId}/dashboards/${this.#dashboardId}`);
      case 'export':
        return this.#get(`/api/gdpr/users/${EXPORTED_PERSON}/export`);
      case 'erasure':
        return this.#attemptErasure();
    }
  }

  readonly #headers = (): Record<string, string> => ({
    'X-API-Key': this.#tenant.secretKey,
    Cookie: this.#tenant.cookie,
    'Content-Type': 'application/json',
  });

  #request(path: string, init: RequestInit): Attempt {
    return async (signal) => {
      const response = await fetch(this.#tenant.url + path, { ...init, headers: this.#headers(), signal });
      await response.arrayBuffer();
      return response.ok;
    };
  }

  #post(path: string, body: object): Attempt {
    return this.#request(path, { method: 'POST', body: JSON.stringify(body) });
  }

  #get(path: string): Attempt {
    return this.#request(path, { method: 'GET' });
  }

  /** From sending an event until ClickHouse counts it. */
  #attemptCounted(): Attempt {
    this.#sent += 1;
    const insertId = `counted-${this.#sent}`;
    const event = { event_type: 'counted', device_id: 'probe', insert_id: insertId, time: new Date().toISOString() };
    const send = this.#post('/track', event);
    const query = `SELECT count() FROM events WHERE project_id = '${this.#tenant.projectId}' AND insert_id = '${insertId}'`;
    return async (signal) => {
      if (!(await send(signal))) return false;
      while (!signal.aborted) {
        if ((await selectNumber(this.#stack, query)) > 0) return true;
        await delay(COUNTED_POLL_MS);
      }
      return false;
    };
  }

  #attemptErasure(): Attempt {
    this.#erased += 1;
    if (this.#erased > ERASED_PEOPLE) throw new Error('there is no person left to erase');
    return this.#request(`/api/gdpr/users/${erasedPerson(this.#erased)}`, { method: 'DELETE' });
  }
}

const DASHBOARD = `version: 1
id: ${DASHBOARD_KEY}
title: Overview
sections:
  - title: Visits
    cards:
      - {id: visits, title: Visits, kind: chart, viz: line, query: '* | last 7d | count by day'}
`;
