// Domains of an organization in PostgreSQL, verified by a TXT record that only the domain's owner
// can publish. Any organization may claim a domain; only one can verify it. domain-checks.ts checks
// the record again: a domain admits people for seven days after its record was last seen.
import { PublicError } from '../platform/errors.js';
import { isUuid, newUuidV7, type OrganizationId, randomBase62 } from '../platform/ids.js';
import type { Postgres } from '../platform/postgres/client.js';
import { DAY_MS } from '../platform/utc-day.js';
import type { Domain } from './answers.js';
import { type Quotas, requireDomainQuota } from './quotas.js';
import type { FindTxtRecords } from './txt-records.js';

const TOKEN_LENGTH = 32;

/** How long a verified domain admits people after its record was last seen. */
export const RECORD_LIFETIME_DAYS = 7;

type DomainRow = Pick<Domain, 'id' | 'domain' | 'token' | 'verified_at' | 'record_seen_at'>;

const SHOWN = ['id', 'domain', 'token', 'verified_at', 'record_seen_at'] as const;

export const recordOf = ({ domain, token }: Pick<Domain, 'domain' | 'token'>) => ({
  record_name: `_service-verify.${domain}`,
  record_value: `service-verification=${token}`,
});

export const lapseOf = (recordSeenAt: Date): Date => new Date(recordSeenAt.getTime() + RECORD_LIFETIME_DAYS * DAY_MS);

const toDomain = (row: DomainRow): Domain => ({
  ...row,
  ...recordOf(row),
  admits_until: row.verified_at === null || row.record_seen_at === null ? null : lapseOf(row.record_seen_at),
});

/** Idempotent: claiming again returns the existing token, whose record may be published already. */
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

/** It admits no one from the next sign-in on; members who joined by it stay. */
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
  await requireRecord(findTxtRecords, domain);
  return markVerified(postgres, domain);
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

/**
 * The unique index over verified domains decides which organization is first. An organization whose
 * record has been missing for seven days loses the domain to one that has published its own.
 */
async function markVerified(postgres: Postgres, { id, domain }: Domain): Promise<Domain> {
  try {
    return await postgres.transaction(async (transaction) => {
      await transaction('domains')
        .where({ domain })
        .whereNot({ id })
        .whereRaw(`record_seen_at <= now() - make_interval(days => ?)`, [RECORD_LIFETIME_DAYS])
        .update({ verified_at: null });
      const [row] = await transaction('domains')
        .where({ id })
        .update({ ...seenNow(transaction), verified_at: transaction.raw('coalesce(verified_at, now())') })
        .returning(SHOWN);
      if (row === undefined) throw noSuchDomain();
      return toDomain(row);
    });
  } catch (cause) {
    if (!isUniqueViolation(cause)) throw cause;
    throw new PublicError('bad_request', `${domain} has been verified by another organization`, { cause });
  }
}

/** Columns of a domain whose record was just seen. */
export const seenNow = (postgres: Postgres) => ({
  record_seen_at: postgres.fn.now(),
  checked_at: postgres.fn.now(),
  notices_sent: 0,
});

const UNIQUE_VIOLATION = '23505';

const isUniqueViolation = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === UNIQUE_VIOLATION;
