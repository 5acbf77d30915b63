// Names of a project that the check of a stored query knows: what it has defined, and the
// properties that it has sent.
import { keysOfBag } from '../catalog/catalog.js';
import type { CatalogReader } from '../catalog/reader.js';
import type { ProjectId } from '../platform/ids.js';
import type { CompileContext } from '../query/compile.js';
import type { Definitions } from '../query/definitions/definitions.js';
import type { DefinitionsReader } from './reader.js';

export interface QueryNamesDeps {
  readonly definitions: Pick<DefinitionsReader, 'read'>;
  readonly catalogs: Pick<CatalogReader, 'read'>;
}

export interface QueryNames extends Pick<CompileContext, 'propertyKeys'> {
  readonly definitions: Definitions;
}

/** Rejects when PostgreSQL does not answer: nothing could be stored then. */
export async function readQueryNames(
  { definitions: reader, catalogs }: QueryNamesDeps,
  projectId: ProjectId,
): Promise<QueryNames> {
  const [{ definitions }, catalog] = await Promise.all([reader.read(projectId), catalogs.read(projectId)]);
  return { definitions, propertyKeys: keysOfBag(catalog, 'event_properties') };
}
