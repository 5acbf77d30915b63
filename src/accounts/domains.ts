// Domains of an organization in PostgreSQL, and the check that it has them: a TXT record that only their owner can publish.
// Any organization may claim a domain; only one can have it verified.
import { PublicError } from '../platform/errors.js';
import { isUuid, newUuidV7, type OrganizationId, randomBase62 } from '../platform/ids.js';
import type { Postgres } from '../platform/postgres/client.js';
import { type Quotas, requireDomainQuota } from './quotas.js';
import type { FindTxtRecords } from './txt-records.js';

const TOKEN_LENGTH = 32;

/** As the interface shows it. */
export interface Domain {
  readonly id: string;
  readonly domain: string;
  readonly token: string;
  readonly record_name: string;
  readonly record_value: string;
  readonly verified_at: Date | null;
}

type DomainRow = Pick<Domain, 'id' | 'domain' | 'token' | 'verified_at'>;

const SHOWN = ['id', 'domain', 'token', 'verified_at'] as const;

const toDomain = (row: DomainRow): Domain => ({
  ...row,
  record_name: `_service-verify.${row.domain}`,
  record_value: `service-verification=${row.token}`,
});

/** Claiming a domain again answers with the token there is: the record may be published already. */
export async function claimDomain(
  postgres: Postgres,
  quotas: Quotas,
  { organizationId, domain }: { organizationId: OrganizationId; domain: string },
): Promise<Domain> {
  return postgres.transaction(async (transaction) => {
    await requireDomainQuota(transaction, quotas, { organizationId, domain });
    const [row]: DomainRow[] = await transaction('domains')
      .insert({ id: newUuidV7(), organization_id: organizationId, domain, token: randomBase62(TOKEN_LENGTH) })
      .onConflict(['organization_id', 'domain'])
      .merge(['domain'])
      .returning(SHOWN);
    if (row === undefined) throw new Error('the domain was neither inserted nor found');
    return toDomain(row);
  });
}

export async function listDomains(postgres: Postgres, organizationId: OrganizationId): Promise<Domain[]> {
  const rows: DomainRow[] = await postgres('domains')
    .where({ organization_id: organizationId })
    .orderBy('domain')
    .select(SHOWN);
  return rows.map(toDomain);
}

export interface DomainKey {
  readonly organizationId: OrganizationId;
  readonly domainId: string;
}

const whereOf = (key: DomainKey) => ({ id: key.domainId, organization_id: key.organizationId });

/** From the next sign-in on it admits no one; members who joined by it stay. */
export async function removeDomain(postgres: Postgres, key: DomainKey): Promise<void> {
  const removed = isUuid(key.domainId) ? await postgres('domains').where(whereOf(key)).delete() : 0;
  if (removed === 0) throw noSuchDomain();
}

const noSuchDomain = () => new PublicError('not_found', 'there is no such domain');

export async function verifyDomain(
  postgres: Postgres,
  findTxtRecords: FindTxtRecords,
  key: DomainKey,
): Promise<Domain> {
  const row: DomainRow | undefined = isUuid(key.domainId)
    ? await postgres('domains').where(whereOf(key)).first(SHOWN)
    : undefined;
  if (row === undefined) throw noSuchDomain();
  const domain = toDomain(row);
  if (domain.verified_at !== null) return domain;
  await requireRecord(findTxtRecords, domain);
  return { ...domain, verified_at: await markVerified(postgres, domain) };
}

async function requireRecord(findTxtRecords: FindTxtRecords, domain: Domain): Promise<void> {
  const records = await findTxtRecords(domain.record_name);
  if (records.includes(domain.record_value)) return;
  const found = records.length === 0 ? 'there is none' : `there are ${records.length}, none of them this one`;
  throw new PublicError(
    'bad_request',
    `no TXT record ${domain.record_name} has the value ${domain.record_value}: ${found}; a new record may take some minutes to be seen`,
  );
}

/** One statement decides who is first: the index over verified domains refuses everyone else. */
async function markVerified(postgres: Postgres, domain: Domain): Promise<Date> {
  try {
    const [row] = await postgres('domains')
      .where({ id: domain.id })
      .update({ verified_at: postgres.fn.now() })
      .returning('verified_at');
    return row.verified_at;
  } catch (cause) {
    if (!isUniqueViolation(cause)) throw cause;
    throw new PublicError('bad_request', `${domain.domain} has been verified by another organization`, { cause });
  }
}

const UNIQUE_VIOLATION = '23505';

const isUniqueViolation = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === UNIQUE_VIOLATION;
