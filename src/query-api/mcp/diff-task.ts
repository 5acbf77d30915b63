// Thread task of a saved dashboard: the changed lines of its document, fenced. A table of 2,000 by
// 2,000 lines takes 100 ms, which must not block the event loop.
import { diffLines, hunksOf } from '../../dashboards/diff-lines.js';
import type { ThreadTask } from '../../platform/threads/thread-task.js';
import { escapeHidden, fence } from './cut-answer.js';

/** Two texts of a document; the first is empty when the dashboard is new. */
export interface DiffRequest {
  readonly before: string;
  readonly after: string;
}

export const diffTask: ThreadTask<DiffRequest, string> = {
  module: import.meta.url,
  name: 'diffTask',
  run: ({ before, after }) => diffOf(before, after),
  tooCostly: 'the difference takes more than {limit} to compute; split the dashboard',
};

const MARKS = { same: ' ', added: '+', removed: '-' } as const;
const LENGTH_MAX = 20_000;

function diffOf(before: string, after: string): string {
  const lines = hunksOf(diffLines(before, after)).map((line) =>
    line === undefined ? '…' : `${MARKS[line.kind]} ${line.text}`,
  );
  const text = escapeHidden(lines.join('\n'));
  const isLong = text.length > LENGTH_MAX;
  return fence('diff', isLong ? `${text.slice(0, LENGTH_MAX).toWellFormed()}\n… cut` : text);
}
