// Request for an export, which `web` sends to the worker: the project, and whether the events of a
// person, all events or the identities are exported.
import { type ProjectId, toProjectId } from '../platform/ids.js';

export type ExportRequest = PersonExport | EventsExport | IdentitiesExport;

/** The events of a person. */
export interface PersonExport {
  readonly kind: 'person';
  readonly projectId: ProjectId;
  readonly userId: string;
}

/** All events of a project. */
export interface EventsExport {
  readonly kind: 'events';
  readonly projectId: ProjectId;
  /** Events from this time on, epoch milliseconds; undefined for the first one. */
  readonly fromMs?: number | undefined;
  /** Events before this time, epoch milliseconds; undefined for all later ones. */
  readonly untilMs?: number | undefined;
}

/** The device mappings and profiles of a project. */
export interface IdentitiesExport {
  readonly kind: 'identities';
  readonly projectId: ProjectId;
}

export const encodeExportRequest = (request: ExportRequest): Buffer => Buffer.from(JSON.stringify(request), 'utf8');

export function decodeExportRequest(bytes: Buffer): ExportRequest {
  const request = JSON.parse(bytes.toString('utf8')) as ExportRequest;
  // An earlier version sends no kind.
  return { ...request, kind: request.kind ?? 'person', projectId: toProjectId(request.projectId) } as ExportRequest;
}
