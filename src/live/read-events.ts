// Reads the newest events of a project for the live feed: a normal query over HTTP to the query
// process, with a project pass.
import { PASS_HEADER, type ProjectPasses } from '../access/project-pass.js';
import { PublicError } from '../platform/errors.js';
import { EVENTS_MAX, type Row, UNREADABLE, type Watcher } from './feed.js';

const QUESTION = JSON.stringify({ q: '* | last 30m | list', limit: EVENTS_MAX, format: 'json', timezone: 'UTC' });
/** A larger answer is not parsed: it would delay the requests of others in the event loop. */
const BYTES_MAX = 1024 * 1024;

export function createEventReader({ queryUrl, passes }: { queryUrl: () => string; passes: ProjectPasses }) {
  return async (watcher: Watcher, signal: AbortSignal): Promise<readonly Row[]> => {
    const response = await fetch(new URL('/query', queryUrl()), {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        // Its size is checked before it is read.
        'Accept-Encoding': 'identity',
        [PASS_HEADER]: passes.issue(watcher, Date.now()),
      },
      body: QUESTION,
      signal,
    }).catch((cause: unknown) => {
      throw new PublicError('unavailable', UNREADABLE, { cause });
    });
    if (Number(response.headers.get('Content-Length')) > BYTES_MAX) {
      await response.body?.cancel();
      throw new PublicError('too_large', `the newest ${EVENTS_MAX} events have more than ${BYTES_MAX} bytes`);
    }
    const body = (await response.json()) as { rows?: readonly Row[]; columns?: readonly string[]; error?: string };
    if (!response.ok) throw new PublicError('unavailable', body.error ?? UNREADABLE);
    const columns = body.columns ?? [];
    return (body.rows ?? []).map((row) => Object.fromEntries(columns.map((name) => [name, row[name] ?? null])));
  };
}
