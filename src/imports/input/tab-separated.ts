// Values of a line with tabs between them. A part of a string keeps the whole string alive, and an
// import keeps ids to its end.

/** V8 copies shorter parts itself. */
const SHARED_LENGTH_MIN = 13;

/** Values that may outlive the line: each is a copy. */
export const splitTabs = (text: string): readonly string[] => text.split('\t').map(toCopy);

/** For a part of a line that outlives the line. */
export const toCopy = (part: string): string =>
  part.length < SHARED_LENGTH_MIN ? part : Buffer.from(part, 'utf8').toString('utf8');
