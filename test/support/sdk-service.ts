// The service behind an unreliable proxy, as the SDKs of other products see it, and what is asked
// about their events afterwards.
import { expect } from 'vitest';
import type { NewProject } from '../../src/accounts/store.js';
import { eventually } from './eventually.js';
import { type AnswerRow, askRows } from './identify.js';
import { createTestDatabases, type ProcessGroup, startProcesses, type TestDatabases } from './stack.js';
import { createTestProject } from './track.js';
import { type Fault, startUnreliableProxy, type UnreliableProxy } from './unreliable-proxy.js';

export const FAULTS: readonly Fault[] = [429, 503, 'cut'];

export interface SdkService {
  readonly databases: TestDatabases;
  readonly processes: ProcessGroup;
  readonly proxy: UnreliableProxy;
  createProject(): Promise<SdkProject>;
  /** Calls without an equal here, by reason, as the metric counts them. */
  countSkipped(protocol: string): Promise<Readonly<Record<string, number>>>;
  close(): Promise<void>;
}

export interface SdkProject extends NewProject {
  list(q: string): Promise<AnswerRow[]>;
  /** Waits until the project has as many events, and lists them by type. */
  listed(count: number): Promise<AnswerRow[]>;
}

export async function startSdkService(): Promise<SdkService> {
  const databases = await createTestDatabases();
  const processes = await startProcesses(databases.env, ['worker', 'query', 'web']);
  const proxy = await startUnreliableProxy(processes.url);

  async function createProject(): Promise<SdkProject> {
    const project = await createTestProject(databases);
    const list = (q: string) => askRows(processes.url, project.secretKey, q);
    const listed = (count: number) =>
      eventually(async () => {
        const rows = await list('* | list event_type, user_id, device_id, insert_id, event_properties | last 1000d');
        expect(rows.map(({ event_type: type }) => type)).toHaveLength(count);
        return rows.toSorted((a, b) => (String(a.event_type) < String(b.event_type) ? -1 : 1));
      });
    return { ...project, list, listed };
  }

  async function countSkipped(protocol: string): Promise<Record<string, number>> {
    const page = await (await fetch(`${processes.get('web').url}/metrics`)).text();
    const samples = page.matchAll(/^ingest_sdk_calls_skipped_total\{protocol="(\w+)",reason="(\w+)"\} (\d+)/gm);
    return Object.fromEntries(
      [...samples].filter(([, name]) => name === protocol).map(([, , reason = '', count]) => [reason, Number(count)]),
    );
  }

  return {
    ...{ databases, processes, proxy, createProject, countSkipped },
    async close() {
      await proxy.close();
      await processes.stop();
      await databases.close();
    },
  };
}

/** A client that records which of its members are used. */
export function recordMembers<T extends object>(client: T): { readonly client: T; readonly used: ReadonlySet<string> } {
  const used = new Set<string>();
  const recorded = new Proxy(client, {
    get(target, name) {
      if (typeof name === 'string') used.add(name);
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  return { client: recorded, used };
}

/** Names of the methods and accessors of an object, without those of the library itself. */
export const membersOf = (owner: object): readonly string[] =>
  Object.getOwnPropertyNames(owner).filter((name) => !name.startsWith('_') && name !== 'constructor');

/** Names of the public methods and accessors of a class in a file of declarations. */
export function publicMembers(declarations: string): readonly string[] {
  const lines = declarations.matchAll(/^ {4}(?:readonly |abstract |get )*([a-z]\w*)\??(?:<[^(]*>)?[(:]/gm);
  return [...new Set([...lines].map(([, name = '']) => name))].filter((name) => name !== 'constructor');
}
