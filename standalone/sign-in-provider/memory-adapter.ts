// In-memory storage of the local OpenID provider: sign-ins in progress, for minutes. The least
// recently used entry is evicted first.
import { LRUCache } from 'lru-cache';
import type { Adapter, AdapterPayload } from 'oidc-provider';

const stored = new LRUCache<string, AdapterPayload>({ max: 1000 });

export class MemoryAdapter implements Adapter {
  readonly #model: string;

  constructor(model: string) {
    this.#model = model;
  }

  async upsert(id: string, payload: AdapterPayload, expiresInSeconds: number): Promise<void> {
    stored.set(this.#key(id), payload, { ttl: expiresInSeconds * 1000 });
  }

  async find(id: string): Promise<AdapterPayload | undefined> {
    return stored.get(this.#key(id));
  }

  async findByUid(uid: string): Promise<AdapterPayload | undefined> {
    return this.#first((payload) => payload.uid === uid);
  }

  async findByUserCode(userCode: string): Promise<AdapterPayload | undefined> {
    return this.#first((payload) => payload.userCode === userCode);
  }

  async consume(id: string): Promise<void> {
    const payload = stored.get(this.#key(id));
    if (payload !== undefined) payload.consumed = Math.floor(Date.now() / 1000);
  }

  async destroy(id: string): Promise<void> {
    stored.delete(this.#key(id));
  }

  async revokeByGrantId(grantId: string): Promise<void> {
    for (const [key, payload] of stored.entries()) if (payload.grantId === grantId) stored.delete(key);
  }

  #first(isWanted: (payload: AdapterPayload) => boolean): AdapterPayload | undefined {
    for (const [key, payload] of stored.entries()) {
      if (key.startsWith(`${this.#model}:`) && isWanted(payload)) return payload;
    }
    return undefined;
  }

  #key(id: string): string {
    return `${this.#model}:${id}`;
  }
}
