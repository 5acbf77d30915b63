// What a person is called: by a name of the profile.
import type { Row } from '../api/answer.js';

/** The property `name` of a profile. */
export function nameIn({ properties }: Row): string | undefined {
  if (typeof properties !== 'object' || properties === null || !('name' in properties)) return undefined;
  return typeof properties.name === 'string' && properties.name !== '' ? properties.name : undefined;
}

/** The name of a person, else the e-mail address. */
export const headingOf = (profile: Row | undefined): string | undefined =>
  profile && (nameIn(profile) ?? (typeof profile.email === 'string' ? profile.email : undefined));
