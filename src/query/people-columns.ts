// Answer columns of `people`: those of `users`, the person's distinct_id, and the time of the event
// that put them on the list.

export const PEOPLE_COLUMNS = [
  { name: 'distinct_id', type: 'text' },
  { name: 'user_id', type: 'text' },
  { name: 'email', type: 'text' },
  { name: 'email_domain', type: 'text' },
  { name: 'first_seen', type: 'time' },
  { name: 'last_seen', type: 'time' },
  { name: 'properties', type: 'optional_properties' },
  { name: 'at', type: 'time' },
] as const;

/** The mode of such an answer, which has the e-mail addresses of people. */
export const PEOPLE_MODE = 'people';
