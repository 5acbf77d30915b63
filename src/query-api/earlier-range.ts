// Warns when the earlier range of `compare` begins before the first event of the project: its
// numbers are then those of a part of it, and the change says little.
import type { CompiledQuery } from '../query/compile.js';
import type { Counted } from './answer.js';
import type { Execution } from './execute.js';

export async function withEventBefore(
  counted: Counted,
  { eventBefore }: CompiledQuery,
  execution: Execution,
): Promise<Counted> {
  if (eventBefore === undefined) return counted;
  const { rows, rowsScanned } = await execution.run(eventBefore);
  return { ...counted, hasEventBefore: rows.length > 0, rowsScanned: counted.rowsScanned + rowsScanned };
}

export const warningsOfEarlier = ({ hasEventBefore }: Pick<Counted, 'hasEventBefore'>): string[] =>
  hasEventBefore === false
    ? [
        'the range of compare begins before the first event of this project: it is compared with a part of it, or nothing',
      ]
    : [];
