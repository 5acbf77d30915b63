// Checks the TXT records of verified domains, daily while the record exists, hourly while it is
// missing. After seven days without its record a domain admits no one (joinByDomain); its owners
// get a mail after two days and after seven. A failed lookup counts as a missing record, because an
// abandoned domain often has no name server at all.
import type { Logger } from '../platform/log.js';
import type { Postgres } from '../platform/postgres/client.js';
import type { MissingRecord } from './domain-mail.js';
import { lapseOf, recordOf, seenNow } from './domains.js';
import type { FindTxtRecords } from './txt-records.js';

const BATCH = 20;
const WARN_AFTER_MS = 2 * 24 * 60 * 60_000;

export interface DomainCheckDeps {
  readonly postgres: Postgres;
  readonly findTxtRecords: FindTxtRecords;
  /** Resolves once the mail is queued durably. Undefined without a mail server. */
  readonly mailOwner: ((email: string, missing: MissingRecord) => Promise<void>) | undefined;
  readonly log: Logger;
}

interface DueDomain {
  readonly id: string;
  readonly organization_id: string;
  readonly domain: string;
  readonly token: string;
  readonly record_seen_at: Date;
}

/** Checks every due domain, many at a time. */
export async function checkDueDomains(deps: DomainCheckDeps, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const due = await takeDueDomains(deps.postgres);
    if (due.length === 0) return;
    await Promise.all(due.map((domain) => checkDomain(deps, domain)));
  }
}

/**
 * Takes due domains by setting checked_at, so that no two workers check the same domain; one that
 * is lost in a crash is due again within the hour.
 */
async function takeDueDomains(postgres: Postgres): Promise<DueDomain[]> {
  const { rows } = await postgres.raw<{ rows: DueDomain[] }>(
    `UPDATE domains SET checked_at = now() WHERE id IN (
       SELECT id FROM domains
       WHERE verified_at IS NOT NULL AND (checked_at IS NULL OR checked_at <
         now() - CASE WHEN record_seen_at >= checked_at THEN interval '1 day' ELSE interval '1 hour' END)
       ORDER BY checked_at NULLS FIRST LIMIT ? FOR UPDATE SKIP LOCKED)
     RETURNING id, organization_id, domain, token, record_seen_at`,
    [BATCH],
  );
  return rows;
}

async function checkDomain(deps: DomainCheckDeps, domain: DueDomain): Promise<void> {
  const { record_name: name, record_value: value } = recordOf(domain);
  const records = await deps.findTxtRecords(name).catch(() => undefined);
  if (records?.includes(value)) await deps.postgres('domains').where({ id: domain.id }).update(seenNow(deps.postgres));
  else await noteMissing(deps, domain, records === undefined ? 'unavailable' : 'absent');
}

/**
 * Queues the mails before the transaction ends: a crash in between sends them twice, and never
 * loses them.
 */
async function noteMissing(deps: DomainCheckDeps, domain: DueDomain, reason: MissingRecord['reason']): Promise<void> {
  const now = Date.now();
  const isLapsed = now >= lapseOf(domain.record_seen_at).getTime();
  if (!isLapsed && now - domain.record_seen_at.getTime() < WARN_AFTER_MS) return;
  const notice = isLapsed ? 2 : 1;
  const missing = { domain: domain.domain, token: domain.token, recordSeenAt: domain.record_seen_at, reason, isLapsed };
  await deps.postgres.transaction(async (transaction) => {
    const isDue = await transaction('domains')
      .where({ id: domain.id })
      .where('notices_sent', '<', notice)
      .update({ notices_sent: notice });
    if (isDue === 0) return;
    deps.log.warn({ domain: domain.domain, reason, isLapsed }, 'the TXT record of a verified domain is missing');
    for (const email of await ownersOf(transaction, domain.organization_id)) await deps.mailOwner?.(email, missing);
  });
}

/** Only verified addresses: others may belong to strangers. */
const ownersOf = (postgres: Postgres, organizationId: string): Promise<string[]> =>
  postgres('members')
    .join('people', 'people.id', 'person_id')
    .where({ organization_id: organizationId, role: 'owner', email_verified: true })
    .whereNotNull('email')
    .pluck('email');
