// Mails to the owners of an organization about a verified domain without its TXT record.
import type { Mail } from '../mail/queue.js';
import { lapseOf, recordOf } from './domains.js';

export interface MissingRecord {
  readonly domain: string;
  readonly token: string;
  readonly recordSeenAt: Date;
  /** Whether the record does not exist, or the lookup failed. */
  readonly reason: 'absent' | 'unavailable';
  /** Whether the domain no longer admits people. */
  readonly isLapsed: boolean;
}

export function toDomainMail(to: string, missing: MissingRecord): Mail {
  const { domain, recordSeenAt, isLapsed } = missing;
  const { record_name: name, record_value: value } = recordOf(missing);
  const until = lapseOf(recordSeenAt).toISOString().slice(0, 10);
  const found = missing.reason === 'absent' ? 'was not found' : 'could not be looked up';
  return {
    to,
    subject: isLapsed ? `${domain} admits no new members` : `${domain} admits new members until ${until}`,
    text: `The TXT record that verifies ${domain} ${found}; it was last seen on ${recordSeenAt.toISOString().slice(0, 10)}.

${isLapsed ? 'People with an address of this domain do not join your organization any more when they sign in.' : `Without it, people with an address of this domain stop joining your organization on ${until}.`}
Members who joined earlier stay.

Name:  ${name}
Value: ${value}

Once the record is back, the domain admits new members again within an hour. If you no longer need the domain,
remove it from your organization.
`,
  };
}
