// Message that requests an export on its channel: the project and what of it.
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
  const projectId = toProjectId(request.projectId);
  switch (request.kind) {
    case 'events':
      return { kind: 'events', projectId, fromMs: request.fromMs, untilMs: request.untilMs };
    case 'identities':
      return { kind: 'identities', projectId };
    default:
      // An earlier version sends no kind.
      return { kind: 'person', projectId, userId: request.userId };
  }
}
