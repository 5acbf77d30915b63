// The bodies of the management routes: unknown → typed. The OpenAPI document is made of the same schemas.
import { domainToASCII } from 'node:url';
import { z } from 'zod';
import type { Scope } from '../access/credentials.js';
import { ROLES } from '../access/roles.js';
import { findTimeZone } from '../query/timezone.js';
import { tryParseDuration } from './duration.js';

const NAME_LENGTH_MAX = 128;

const nameField = z
  .string({ error: 'is required: a text' })
  .trim()
  .min(1, { error: 'is empty' })
  .max(NAME_LENGTH_MAX, { error: `is longer than ${NAME_LENGTH_MAX} characters` })
  // A name is one line, in mails too, and PostgreSQL stores no NUL.
  .regex(/^\P{Cc}*$/u, { error: 'has control characters' });

const oneOf = <const T extends readonly [string, ...string[]]>(values: T) =>
  z.enum(values, { error: `is one of ${values.join(', ')}` });

export const organizationBody = z.object({ name: nameField });

export const memberBody = z.object({ role: oneOf(ROLES) });

const EMAIL_LENGTH_MAX = 254;

export const invitationBody = z.object({
  email: z
    .string({ error: 'is required: an e-mail address' })
    .trim()
    .toLowerCase()
    .max(EMAIL_LENGTH_MAX, { error: `is longer than ${EMAIL_LENGTH_MAX} characters` })
    .pipe(z.email({ error: 'is not an e-mail address' })),
  role: oneOf(['member', 'admin']),
});

// Names have 253 characters at most, that of the record to be published (domains.ts) included.
const DOMAIN = /^(?=.{1,237}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])$/;

export const domainBody = z.object({
  domain: z
    .string({ error: 'is required: a domain such as example.com' })
    .trim()
    // What would end the host in an address must not be cut off here.
    .regex(/^[^\s/\\?#@:%]*$/, { error: 'is not a domain such as example.com' })
    // One spelling of each domain: lower case, international names in their ASCII form, no final dot.
    .transform((text) => domainToASCII(text).replace(/\.$/, ''))
    .refine((domain) => DOMAIN.test(domain), { error: 'is not a domain such as example.com' }),
});

export const projectBody = z.object({ name: nameField });

export const projectChanges = z
  .object({
    name: nameField.optional(),
    ip_policy: oneOf(['anonymize', 'full', 'drop']).optional(),
    timezone: z
      .string({ error: 'is an IANA name such as Europe/Berlin' })
      .refine((name) => findTimeZone(name) !== undefined, { error: 'is not a known IANA time zone' })
      .transform((name) => findTimeZone(name) ?? 'UTC')
      .optional(),
  })
  .refine((changes) => Object.values(changes).some((value) => value !== undefined), {
    error: 'name, ip_policy or timezone is required',
  });

export const projectDeletionBody = z.object({
  project_name: z.string({ error: 'is required: the name of the project' }),
  project_name_confirm: z.string({ error: 'is required: the name of the project, once more' }),
});

const SCOPES = ['track', 'query', 'dashboards', 'admin'] as const satisfies readonly Scope[];
const TOKEN_LIFETIME_DEFAULT = '90d';

export const tokenBody = z.object({
  name: nameField,
  kind: oneOf(['personal', 'service']),
  scopes: z
    .array(oneOf(SCOPES), { error: `is required: a list of ${SCOPES.join(', ')}` })
    .min(1, { error: 'is empty' })
    .transform((scopes) => [...new Set(scopes)]),
  expires_in: z
    .string({ error: 'is a number and a unit: s, m, h, d or w' })
    .refine((text) => isTokenLifetime(text), {
      error: 'is a number and one of s, m, h, d, w, from 1 minute to 366 days, as in 12h',
    })
    .default(TOKEN_LIFETIME_DEFAULT),
});

const MINUTE_MS = 60_000;
const LIFETIME_MAX_MS = 366 * 24 * 60 * MINUTE_MS;

function isTokenLifetime(text: string): boolean {
  const ms = tryParseDuration(text);
  return ms !== undefined && ms >= MINUTE_MS && ms <= LIFETIME_MAX_MS;
}

export type ProjectChanges = Readonly<z.infer<typeof projectChanges>>;
export type ProjectDeletion = Readonly<z.infer<typeof projectDeletionBody>>;
export type TokenRequest = Readonly<z.infer<typeof tokenBody>>;
