// TXT records, asked of the DNS servers of the configuration, else of those of the machine.
import { Resolver } from 'node:dns/promises';
import { PublicError } from '../platform/errors.js';

/** The texts of a name's TXT records, each put together from its pieces. None is an empty list. */
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
