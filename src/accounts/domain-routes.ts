// Routes of an organization's domains: owners claim, verify, list and remove them.
import type { Request, Response } from 'express';
import { type GuardedRouter, membershipOf } from '../access/guarded-router.js';
import { parseJsonBody, readJsonBody } from '../platform/http/json-body.js';
import type { Postgres } from '../platform/postgres/client.js';
import { claimDomain, listDomains, removeDomain, verifyDomain } from './domains.js';
import type { Quotas } from './quotas.js';
import { domainBody } from './schema.js';
import type { FindTxtRecords } from './txt-records.js';

export interface DomainRoutesDeps {
  readonly postgres: Postgres;
  readonly quotas: Quotas;
  readonly findTxtRecords: FindTxtRecords;
}

export function addDomainRoutes({ on }: GuardedRouter, { postgres, findTxtRecords, quotas }: DomainRoutesDeps): void {
  on('GET /api/orgs/{orgID}/domains', async (_req, res) => {
    res.json(await listDomains(postgres, membershipOf(res).organizationId));
  });

  on('POST /api/orgs/{orgID}/domains', readJsonBody, async (req, res) => {
    const { domain } = parseJsonBody(domainBody, req.body);
    res
      .status(201)
      .json(await claimDomain(postgres, quotas, { organizationId: membershipOf(res).organizationId, domain }));
  });

  on('DELETE /api/orgs/{orgID}/domains/{domainID}', async (req, res) => {
    const key = domainKeyOf(req, res);
    await removeDomain(postgres, key);
    res.json({ status: 'removed', id: key.domainId });
  });

  on('POST /api/orgs/{orgID}/domains/{domainID}/verify', async (req, res) => {
    res.json(await verifyDomain(postgres, findTxtRecords, domainKeyOf(req, res)));
  });
}

const domainKeyOf = (req: Request, res: Response) => ({
  organizationId: membershipOf(res).organizationId,
  domainId: String(req.params.domainID),
});
