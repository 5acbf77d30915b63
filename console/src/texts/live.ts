// Texts of the screen Live.
import { plural } from './plural.js';

export const liveTexts = {
  filter: 'Filter',
  pause: 'Pause',
  resume: 'Go on',
  paused: (count: number, isLeast: boolean) =>
    `Paused. ${isLeast ? 'At least ' : ''}${plural(count, 'event')} more since then.`,
  watching: 'The newest events of the last 30 minutes, and new ones within about a second.',
  gap: 'More events may have come than are shown.',
  accepted: 'Accepted',
  rejected: 'Rejected',
  nothing: 'No event in the last 30 minutes.',
  noMatch: 'Nothing here has the text of the filter.',
  noneRejected: 'Nothing was rejected lately.',
  refused: (reason: string) => `The live events cannot be read: ${reason}.`,
  disconnected: 'The live events cannot be read at the moment. Trying again.',
} as const;
