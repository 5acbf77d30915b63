// Profile fields with columns of their own. Every other key is a property of the profile.

export const PROFILE_FIELDS = {
  user_id: { column: 'profile_user_id', type: 'id' },
  email: { column: 'profile_email', type: 'text' },
  email_domain: { column: 'profile_email_domain', type: 'text' },
  first_seen: { column: 'profile_first_seen', type: 'optional_time' },
  last_seen: { column: 'profile_last_seen', type: 'optional_time' },
} as const;

export type ProfileKey = keyof typeof PROFILE_FIELDS;
/** Column alias of a profile field in a select. */
export type ProfileColumn = (typeof PROFILE_FIELDS)[ProfileKey]['column'];

export const PROFILE_KEYS = Object.keys(PROFILE_FIELDS) as ProfileKey[];
export const isProfileKey = (key: string): key is ProfileKey => Object.hasOwn(PROFILE_FIELDS, key);
