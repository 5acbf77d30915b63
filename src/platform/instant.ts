// Instants as text in answers.

/** RFC 3339 in UTC, with milliseconds only if they are not zero. */
export const formatInstant = (ms: number): string => new Date(ms).toISOString().replace('.000Z', 'Z');
