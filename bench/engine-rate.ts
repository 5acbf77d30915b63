// Upper bound of ingestion: the engine alone inserts the same rows as Native blocks, one insert
// after the other, with de-duplication and merges, and nothing else running.
import { parseTrackBody } from '../src/ingest/body.js';
import { insertEvents } from '../src/ingest/insert/ingest-partition.js';
import { replayEvents } from '../src/ingest/insert/replay-events.js';
import { EventBlock } from '../src/ingest/insert/row.js';
import { createBodyTemplate } from './load/event-template.js';
import type { Stack } from './stack.js';

const ROWS_PER_INSERT = 10_000;
const EVENTS_PER_BODY = 2000;
/**
 * Event times advance as at 50,000 events per second: lookup costs depend on how many events share
 * a time.
 */
const MS_PER_INSERT = 200;

export interface EngineRun {
  readonly rows: number;
  readonly elapsedMs: number;
}

/** Blocks are built before the measurement. Rows go to the same table and project. */
export async function measureEngine(stack: Stack, rows: number): Promise<EngineRun> {
  const blocks = Array.from({ length: Math.ceil(rows / ROWS_PER_INSERT) }, (_, index) =>
    buildBlock(stack.projectId, Date.now() + index * MS_PER_INSERT),
  );
  const startedMs = performance.now();
  for (const block of blocks) {
    await insertEvents(stack.clickhouse, { partition: 0, block, database: stack.database });
  }
  return { rows: blocks.length * ROWS_PER_INSERT, elapsedMs: performance.now() - startedMs };
}

/** Encodes rows with the service's own code. */
function buildBlock(projectId: string, now: number): Buffer {
  const block = new EventBlock();
  while (block.rows < ROWS_PER_INSERT) {
    const template = createBodyTemplate({
      host: 'bench',
      key: 'bench',
      eventsPerRequest: EVENTS_PER_BODY,
    });
    template.renew(now);
    const head = template.bytes.indexOf('\r\n\r\n');
    const body = template.bytes.subarray(head + 4);
    const ua = /User-Agent: (.*)\r/.exec(template.bytes.toString('latin1', 0, head + 2))?.[1] ?? '';
    const { events } = parseTrackBody(body);
    const header = {
      v: 1,
      p: projectId,
      t: now,
      ip: '127.0.0.0',
      ua,
      geo: {},
      o: 'unknown',
      n: events.length,
    } as const;
    replayEvents({ header, body }, (event) => block.add(event, true));
  }
  return block.encode();
}
