// Queues with dead letters that operators can manage.
import { IDENTIFY_QUEUE } from '../identity/queue.js';
import { BULK_QUEUE, INGEST_QUEUE } from '../ingest/queue.js';
import { MAIL_QUEUE } from '../mail/queue.js';
import { EXPORT_QUEUE } from '../privacy/export-queue.js';
import { ERASURE_QUEUE, PROJECT_DELETION_QUEUE, PURGE_QUEUE } from '../privacy/queue.js';

export const QUEUES: readonly string[] = [
  INGEST_QUEUE,
  BULK_QUEUE,
  IDENTIFY_QUEUE,
  EXPORT_QUEUE,
  ERASURE_QUEUE,
  PURGE_QUEUE,
  PROJECT_DELETION_QUEUE,
  MAIL_QUEUE,
];
