// DNS lookup of TXT records, with DNS_SERVERS or the system's resolvers.
import { Resolver } from 'node:dns/promises';
import { PublicError } from '../platform/errors.js';

/** Texts of the TXT records of a name, each joined from its chunks. Empty without records. */
export type FindTxtRecords = (name: string) => Promise<string[]>;

const TIMEOUT_MS = 2000;
const TRIES = 2;

export function createTxtLookup(servers: readonly string[] | undefined): FindTxtRecords {
  const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: TRIES });
  if (servers !== undefined) resolver.setServers(servers);
  return async (name) => {
    try {
      return (await resolver.resolveTxt(name)).map((pieces) => pieces.join(''));
    } catch (cause) {
      const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
      if (code === 'ENOTFOUND' || code === 'ENODATA') return [];
      throw new PublicError('unavailable', `the DNS record ${name} cannot be looked up right now; try again`, {
        cause,
      });
    }
  };
}
