// POST /api/projects/{projectID}/query: a question of a person who is signed in. Their session is judged here; from here on
// it is a query like any other, answered in this process or in the query process, with a pass in place of a key.
import type { RequestHandler, Router } from 'express';
import { createGuardedRouter, type GuardDeps, projectIdOf } from '../access/guarded-router.js';
import { PASS_HEADER, type ProjectPasses } from '../access/project-pass.js';

export interface ProjectQueriesDeps extends GuardDeps {
  readonly queries: readonly RequestHandler[];
  readonly passes: ProjectPasses;
}

export function createProjectQueries({ queries, passes, ...guard }: ProjectQueriesDeps): Router {
  const { router, on } = createGuardedRouter(guard);
  const issuePass: RequestHandler = (req, res, next) => {
    req.headers[PASS_HEADER] = passes.issue(projectIdOf(res), Date.now());
    next();
  };
  on('POST /api/projects/{projectID}/query', issuePass, ...queries);
  return router;
}
