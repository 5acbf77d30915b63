// Profiles and mappings in PostgreSQL, with a new project for each test: accepts and applies calls
// as the service does, and reads what they have left.
import { randomUUID } from 'node:crypto';
import { applyBatches } from '../../src/identity/apply.js';
import type { Identification, IdentifyJob } from '../../src/identity/queue.js';
import { takeSequence } from '../../src/identity/sequence.js';
import { createPostgres, type Postgres } from '../../src/platform/postgres/client.js';
import { createRedis, type Redis } from '../../src/platform/redis/client.js';
import { createIdHash } from '../../src/privacy/id-hash.js';
import { createTestDatabases, type TestDatabases } from './stack.js';

export type Call = Omit<Identification, 'project'>;

export const add = (user: string, a: number): Call => ({ user, ops: { add: { a } } });
export const set = (user: string, a: number): Call => ({ user, ops: { set: { a } } });
export const on = (device: string, user: string): Call => ({ user, device, ops: {} });
export const imported = (call: Call, timeMs: number) => ({ ...call, at: timeMs * 1000 });

export class IdentityStore {
  readonly hashId = createIdHash('a secret');
  /** Of the calls that are accepted, and of what is read. */
  project = '';

  private constructor(
    readonly databases: TestDatabases,
    readonly postgres: Postgres,
    readonly redis: Redis,
  ) {}

  static async open(): Promise<IdentityStore> {
    const databases = await createTestDatabases();
    return new IdentityStore(databases, createPostgres(databases.config), createRedis(databases.config));
  }

  async close(): Promise<void> {
    await this.postgres.destroy();
    this.redis.disconnect();
    await this.databases.close();
  }

  /** A batch of calls with sequence numbers, not yet applied. */
  async accept(...calls: Call[]): Promise<IdentifyJob> {
    const { project } = this;
    const batch = randomUUID();
    const first = await takeSequence(this.redis, { member: batch, count: calls.length });
    return { version: 1, batch, operations: calls.map((call, index) => ({ project, ...call, seq: first + index })) };
  }

  async apply(...batches: IdentifyJob[]): Promise<number> {
    const { calls, left } = await applyBatches(batches, this);
    if (left.size > 0) throw new Error(`calls of ${left.size} batches are left`);
    return calls;
  }

  profileOf(user: string) {
    return this.postgres('profiles').where({ project_id: this.project, user_id: user }).first();
  }

  /** Users of the device, by the numbers of their calls. */
  async mappingsOf(device: string): Promise<string[]> {
    const ofDevice = { project_id: this.project, device_id: device };
    return (await this.postgres('device_mappings').where(ofDevice).orderBy('seq')).map((row) => row.user_id);
  }
}
