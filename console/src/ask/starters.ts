// Example questions in words, each with its query, for people who do not write queries. EVENT and
// NEXT are replaced by events of the project.
import { nameText, sourceText } from '../language/names.js';

export interface Starter {
  readonly words: string;
  readonly q: string;
}

const STARTERS: readonly Starter[] = [
  { words: 'How many people come each day?', q: '* | last 30d | unique by day' },
  { words: 'What happens most often?', q: '* | last 30d | count by event_type | top 20' },
  { words: 'Where do people come from?', q: '* | last 30d | unique by _referrer_domain | top 20' },
  { words: 'Which countries are they in?', q: '* | last 30d | unique by _country | top 20' },
  { words: 'How often is EVENT done?', q: 'EVENT | last 30d | count by day' },
  { words: 'How many go from EVENT to NEXT?', q: 'funnel EVENT -> NEXT | last 30d | window 7d' },
  { words: 'Who comes back after EVENT?', q: 'retention EVENT by week | last 8w' },
  { words: 'On how many days are people active?', q: 'stickiness * | last 30d' },
  { words: 'Who is new, who returns, who has left?', q: 'lifecycle * by week | last 8w' },
  { words: 'How long do sessions last?', q: 'sessions | last 30d' },
  { words: 'What do people do after EVENT?', q: 'paths from EVENT | last 30d | window 1d' },
];

/** Questions about the most frequent events; one about more events than there are is left out. */
export const startersFor = (event?: string, next?: string): readonly Starter[] =>
  STARTERS.filter(
    ({ q }) => (event !== undefined || !q.includes('EVENT')) && (next !== undefined || !q.includes('NEXT')),
  ).map(({ words, q }) => ({
    words: filled(words, event, next),
    q: filled(q, sourceText(event ?? ''), nameText(next ?? '')),
  }));

/** In one pass: the name of an event may contain NEXT. */
const filled = (text: string, event = '', next = ''): string =>
  text.replace(/EVENT|NEXT/g, (place) => (place === 'EVENT' ? event : next));
