// Reference implementation of paths: what people do after or before an event.
import { intervalOf, lengthOf } from './calendar.js';
import { eventsOf, isOneOf } from './events.js';
import { eventField, matchesAll } from './fields.js';
import type { Event } from './history.js';
import { COHORT, type PathsQuestion } from './question.js';
import { type Answer, ascending, descending, inOrder, limited, ordered } from './table.js';
import { textOf } from './values.js';
import { byPerson, type World } from './world.js';

const NO_LABEL = '(none)';

export function answerPaths(question: PathsQuestion, world: World): Answer {
  const interval = intervalOf(question.range, { count: 7, unit: 'd' }, world.clock);
  const users = new Map<string, number>();
  // Reading: the other events of a path must lie in the range too.
  for (const own of byPerson(world, eventsOf(world, null, interval)).values()) {
    const path = pathOf(own, question, world);
    if (path === undefined) continue;
    const name = JSON.stringify([path.anchor, path.labels]);
    users.set(name, (users.get(name) ?? 0) + 1);
  }
  const rows = [...users].map(([name, count]) => {
    const [anchor, path] = JSON.parse(name) as [string | null, string[]];
    return { ...(anchor !== null && { [COHORT]: anchor }), path, users: count };
  });
  const table = ordered(rows, inOrder(descending('users'), ascending('path'), ascending(COHORT)));
  const columns = [...(question.cohort ? [COHORT] : []), 'path', 'users'];
  return { mode: 'paths', columns, ...limited(table, question.limit ?? 20) };
}

interface Path {
  /** Whether the person of its anchor is in the cohort; null without one. */
  readonly anchor: string | null;
  readonly labels: readonly string[];
}

function pathOf(events: readonly Event[], question: PathsQuestion, world: World): Path | undefined {
  const read = eventField(world);
  const isAsked = isOneOf(world, question.event);
  const isAnchor = (event: Event) => isAsked(event) && matchesAll(question.where ?? [], event, read);
  const window = lengthOf(question.window ?? { count: 1, unit: 'h' });
  const depth = question.depth ?? 5;
  const forwards = question.direction === 'from';
  const position = forwards ? events.findIndex(isAnchor) : events.findLastIndex(isAnchor);
  const anchor = events[position];
  if (anchor === undefined) return undefined;
  // Reading: the end of the window is included, as in a funnel.
  const near = (event: Event) => Math.abs(event.time - anchor.time) <= window;
  const nodes = forwards
    ? events.slice(position).filter(near).slice(0, depth)
    : events
        .slice(0, position + 1)
        .filter(near)
        .slice(-depth);
  // Reading: an empty label counts as missing.
  const labels = nodes.map((event) => textOf(read(event, question.by ?? 'event_type')) || NO_LABEL);
  return { anchor: question.cohort ? String(world.isInCohort(anchor)) : null, labels };
}
