// The caller of a privacy request: a credential of a project, or a signed-in person.
import type { Response } from 'express';
import { type Credential, ownerIdOf, rateSubjectsOf } from '../access/credentials.js';
import { membershipOf, projectIdOf, projectOwnerIdOf } from '../access/guarded-router.js';
import type { RateSubjects } from '../access/rate-limits.js';
import { personOf } from '../access/session-middleware.js';
import type { OrganizationId, ProjectId } from '../platform/ids.js';
import type { AuditActor } from './audit-store.js';

export interface Requester {
  readonly projectId: ProjectId;
  readonly organizationId: OrganizationId;
  readonly actor: AuditActor;
  readonly rates: RateSubjects;
  readonly ownerId: string;
}

export const requesterOf = (credential: Credential): Requester => ({
  projectId: credential.projectId,
  organizationId: credential.organizationId,
  actor: { kind: credential.kind, id: credential.id },
  rates: rateSubjectsOf(credential),
  ownerId: ownerIdOf(credential),
});

/** The signed-in person, for session routes with a project in the path. */
export function signedInRequester(res: Response): Requester {
  const projectId = projectIdOf(res);
  const { personId } = personOf(res);
  return {
    projectId,
    organizationId: membershipOf(res).organizationId,
    actor: { kind: 'person', id: personId },
    rates: { key: personId, project: projectId, person: personId },
    ownerId: projectOwnerIdOf(res),
  };
}
