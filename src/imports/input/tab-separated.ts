// Splits a line of tab-separated values. Each value is a copy, because a part of a string keeps the
// whole string alive, and an import keeps ids to its end.

/** V8 copies shorter parts itself. */
const SHARED_LENGTH_MIN = 13;

export const splitTabs = (text: string): readonly string[] => text.split('\t').map(toCopy);

const toCopy = (value: string): string =>
  value.length < SHARED_LENGTH_MIN ? value : Buffer.from(value, 'utf8').toString('utf8');
