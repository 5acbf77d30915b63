// Route POST /api/projects/{projectID}/query for signed-in people. It checks the session and then
// uses the normal query path with a project pass in place of a key.
import type { RequestHandler, Router } from 'express';
import { createGuardedRouter, type GuardDeps, projectIdOf, timezoneOf } from '../access/guarded-router.js';
import { PASS_HEADER, type ProjectPasses } from '../access/project-pass.js';
import { personOf } from '../access/session-middleware.js';

export interface ProjectQueriesDeps extends GuardDeps {
  readonly queries: readonly RequestHandler[];
  readonly passes: ProjectPasses;
}

export function createProjectQueries({ queries, passes, ...guard }: ProjectQueriesDeps): Router {
  const { router, on } = createGuardedRouter(guard);
  const issuePass: RequestHandler = (req, res, next) => {
    req.headers[PASS_HEADER] = passes.issue(
      { projectId: projectIdOf(res), personId: personOf(res).personId, timezone: timezoneOf(res) },
      Date.now(),
    );
    next();
  };
  on('POST /api/projects/{projectID}/query', issuePass, ...queries);
  return router;
}
