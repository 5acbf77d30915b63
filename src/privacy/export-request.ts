// Message that requests an export on its channel: the project and user id.
import { toProjectId } from '../platform/ids.js';
import type { ExportedPerson } from './export-store.js';

export const encodeExportRequest = (person: ExportedPerson): Buffer => Buffer.from(JSON.stringify(person), 'utf8');

export function decodeExportRequest(bytes: Buffer): ExportedPerson {
  const { projectId, userId } = JSON.parse(bytes.toString('utf8')) as Record<keyof ExportedPerson, string>;
  return { projectId: toProjectId(projectId), userId };
}
