// Shared parts of the dashboard routes: dependencies, the body limit of a document, the writer of a
// request (credential or session), and the response to a write.
import type { Response } from 'express';
import type { Credential } from '../access/credentials.js';
import { type GuardDeps, membershipOf, projectIdOf } from '../access/guarded-router.js';
import type { LayeredRateLimit } from '../access/rate-limits.js';
import { isAtLeast } from '../access/roles.js';
import { personOf } from '../access/session-middleware.js';
import type { AlertSettings } from '../alerts/sync-alerts.js';
import type { QueryNamesDeps } from '../definitions/query-names.js';
import { readBytes, readJson } from '../platform/http/json-body.js';
import type { ThreadPool } from '../platform/threads/thread-pool.js';
import { SOURCE_BYTES_MAX } from './schema.js';
import type { Synced, Writer } from './store.js';

export interface DashboardDeps extends GuardDeps, QueryNamesDeps {
  /**
   * Limit of syncs and deletions. A sync compiles every query of the document, so it counts like a
   * query.
   */
  readonly rateLimit: LayeredRateLimit;
  /** Where documents are parsed and checked. */
  readonly threads: ThreadPool;
  readonly settings: AlertSettings;
}

// Escaping every character makes a text six times as long.
export const readSyncBody = readBytes(6 * SOURCE_BYTES_MAX + 1024);

/** The text of a draft with a change of it. */
export const readDraftBody = readJson(8 * SOURCE_BYTES_MAX);

export const writerOf = ({ projectId, personId, role = 'member' }: Credential): Writer => ({
  ...{ projectId, personId },
  isProjectEditor: personId === undefined || isAtLeast(role, 'admin'),
});

export const signedInWriter = (res: Response): Writer => ({
  ...{ projectId: projectIdOf(res), personId: personOf(res).personId },
  isProjectEditor: isAtLeast(membershipOf(res).role, 'admin'),
});

export const toAnswer = ({ dashboard, isChanged, isMetadataChanged }: Synced) => ({
  dashboard,
  changed: isChanged,
  metadata_changed: isMetadataChanged,
});

/** A dashboard that a sync would create has no id and version 0. */
export function toDryAnswer(synced: Synced) {
  const { dashboard, ...changes } = toAnswer(synced);
  return { dashboard: synced.isNew ? { ...dashboard, id: null, version: 0 } : dashboard, ...changes };
}
