// Queues with dead letters that operators can manage.
import { IDENTIFY_QUEUE } from '../identity/queue.js';
import { ingestQueuesOf } from '../ingest/queue.js';
import { MAIL_QUEUE } from '../mail/queue.js';
import type { Shard } from '../platform/clickhouse/shards.js';
import { EXPORT_QUEUE } from '../privacy/export-queue.js';
import { ERASURE_QUEUE, PROJECT_DELETION_QUEUE, PURGE_QUEUE } from '../privacy/queue.js';

export const queuesOf = ({ known }: { readonly known: readonly Pick<Shard, 'id'>[] }): readonly string[] => [
  ...known.flatMap(({ id }) => ingestQueuesOf(id)),
  IDENTIFY_QUEUE,
  EXPORT_QUEUE,
  ERASURE_QUEUE,
  PURGE_QUEUE,
  PROJECT_DELETION_QUEUE,
  MAIL_QUEUE,
];
