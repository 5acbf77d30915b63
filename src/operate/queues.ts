// The queues that operators look after.
import { INGEST_QUEUE } from '../ingest/queue.js';

export const QUEUES: readonly string[] = [INGEST_QUEUE];
