// Schemas of management request bodies; the OpenAPI document uses them too.
import { z } from 'zod';
import { ROLES, SCOPES, TOKEN_KINDS } from '../access/roles.js';
import { findTimeZone } from '../query/time/timezone.js';
import { EMAIL_LENGTH_MAX, tryCanonicalDomain, tryCanonicalEmail } from './addresses.js';
import { tryParseDuration } from './duration.js';

const NAME_LENGTH_MAX = 128;

/** A name of one line. */
export const nameField = z
  .string({ error: 'is required: a text' })
  .trim()
  .min(1, { error: 'is empty' })
  .max(NAME_LENGTH_MAX, { error: `is longer than ${NAME_LENGTH_MAX} characters` })
  // One line without control characters, line separators, bidirectional overrides or lone
  // surrogates.
  .regex(/^[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]*$/u, { error: 'has control characters' });

const oneOf = <const T extends readonly [string, ...string[]]>(values: T) =>
  z.enum(values, { error: `is one of ${values.join(', ')}` });

export const organizationBody = z.strictObject({ name: nameField });

export const organizationDeletionBody = z.strictObject({
  organization_name: z.string({ error: 'is required: the name of the organization' }),
  organization_name_confirm: z.string({ error: 'is required: the name of the organization, once more' }),
});

export const leavingBody = z.strictObject({
  organization_name: z.string({ error: 'is required: the name of the organization' }),
});

/** Written out, because nothing brings an account back. */
const ACCOUNT_DELETION = 'delete my account';
export const accountDeletionBody = z.strictObject({
  confirm: z.literal(ACCOUNT_DELETION, { error: `is required: the text "${ACCOUNT_DELETION}"` }),
});

export const memberBody = z.strictObject({ role: oneOf(ROLES) });

/**
 * Addresses that mail servers accept without quotes: nothing in them can end the address in a
 * header.
 */
const MAILABLE = /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*@/;

export const invitationBody = z.strictObject({
  email: z
    .string({ error: 'is required: an e-mail address' })
    .trim()
    .max(EMAIL_LENGTH_MAX, { error: `is longer than ${EMAIL_LENGTH_MAX} characters` })
    .transform((text, context) => {
      const email = tryCanonicalEmail(text);
      if (email !== undefined && MAILABLE.test(email)) return email;
      context.addIssue({ code: 'custom', message: `is not an e-mail address${hintOn(text)}` });
      return z.NEVER;
    }),
  role: oneOf(['member', 'admin']),
});

const hintOn = (text: string): string =>
  text.normalize('NFKC') === text ? '' : ': it has characters that normalization (NFKC) turns into others';

export const domainBody = z.strictObject({
  domain: z
    .string({ error: 'is required: a domain such as example.com' })
    .trim()
    .transform((text, context) => {
      const domain = tryCanonicalDomain(text.replace(/\.$/, ''));
      if (domain !== undefined) return domain;
      context.addIssue({ code: 'custom', message: `is not a domain such as example.com${hintOn(text)}` });
      return z.NEVER;
    }),
});

export const projectBody = z.strictObject({ name: nameField });

export const projectChanges = z
  .strictObject({
    name: nameField.optional(),
    ip_policy: oneOf(['anonymize', 'full', 'drop']).optional(),
    timezone: z
      .string({ error: 'is an IANA name such as Europe/Berlin' })
      .refine((name) => findTimeZone(name) !== undefined, { error: 'is not a known IANA time zone' })
      .transform((name) => findTimeZone(name) ?? 'UTC')
      .optional(),
    other_sdks: z.boolean({ error: 'is true or false' }).optional(),
  })
  .refine((changes) => Object.values(changes).some((value) => value !== undefined), {
    error: 'name, ip_policy, timezone or other_sdks is required',
  });

export const projectDeletionBody = z.strictObject({
  project_name: z.string({ error: 'is required: the name of the project' }),
  project_name_confirm: z.string({ error: 'is required: the name of the project, once more' }),
});

const TOKEN_LIFETIME_DEFAULT = '90d';

export const tokenBody = z.strictObject({
  name: nameField,
  kind: oneOf(TOKEN_KINDS),
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
export type Leaving = Readonly<z.infer<typeof leavingBody>>;
export type OrganizationDeletion = Readonly<z.infer<typeof organizationDeletionBody>>;
export type ProjectDeletion = Readonly<z.infer<typeof projectDeletionBody>>;
export type TokenRequest = Readonly<z.infer<typeof tokenBody>>;
