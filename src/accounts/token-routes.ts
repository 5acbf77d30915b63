// Routes of the access tokens of agents: create, list and revoke those of a project, and list and
// revoke one's own in all projects.
import type { Response } from 'express';
import { type GuardedRouter, membershipOf, projectIdOf } from '../access/guarded-router.js';
import { personOf } from '../access/session-middleware.js';
import { parseJsonBody, readJsonBody } from '../platform/http/json-body.js';
import type { Postgres } from '../platform/postgres/client.js';
import type { Quotas } from './quotas.js';
import { tokenBody } from './schema.js';
import { type Actor, createToken, listPersonalTokens, listTokens, revokePersonalToken, revokeToken } from './tokens.js';

export interface TokenRoutesDeps {
  readonly postgres: Postgres;
  readonly quotas: Quotas;
}

export function addTokenRoutes({ on }: GuardedRouter, { postgres, quotas }: TokenRoutesDeps): void {
  on('POST /api/projects/{projectID}/tokens', readJsonBody, async (req, res) => {
    const request = parseJsonBody(tokenBody, req.body);
    const { personId } = personOf(res);
    res.status(201).json(await createToken(postgres, projectIdOf(res), { personId, request, quotas }));
  });

  on('GET /api/projects/{projectID}/tokens', async (_req, res) => {
    res.json(await listTokens(postgres, projectIdOf(res), actorOf(res)));
  });

  on('DELETE /api/projects/{projectID}/tokens/{tokenID}', async (req, res) => {
    const token = { id: String(req.params.tokenID), projectId: projectIdOf(res) };
    res.json(await revokeToken(postgres, token, actorOf(res)));
  });

  on('GET /api/me/tokens', async (_req, res) => {
    res.json(await listPersonalTokens(postgres, personOf(res).personId));
  });

  on('DELETE /api/me/tokens/{tokenID}', async (req, res) => {
    res.json(await revokePersonalToken(postgres, String(req.params.tokenID), personOf(res).personId));
  });
}

const actorOf = (res: Response): Actor => ({ personId: personOf(res).personId, role: membershipOf(res).role });
