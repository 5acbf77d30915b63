// Feature switches (FEATURES_OFF): routes of disabled features answer 503.
import type { RequestHandler, Router } from 'express';
import { PROTOCOL_PATHS } from '../ingest/protocols/paths.js';
import { AUTHORIZATION_SERVER_PATH, PROTECTED_RESOURCE_PATH } from '../oauth/addresses.js';
import { ConfigProblem } from '../platform/config-problem.js';
import { PublicError } from '../platform/errors.js';
import { allowAnyOrigin } from '../platform/http/cross-origin.js';
import { createRouter } from '../platform/http/router.js';
import { toExpressPath } from './route-matrix.js';

const PATHS_OF_FEATURE = {
  // Includes SDK_PATHS.
  track: ['/track'],
  identify: ['/identify'],
  query: ['/query', '/api/projects/:projectId/query'],
  mcp: ['/mcp', '/oauth', PROTECTED_RESOURCE_PATH, AUTHORIZATION_SERVER_PATH],
  dashboards: ['/api/dashboard-sync', '/api/projects/:projectId/dashboards'],
  alerts: ['/api/projects/:projectId/alerts', '/api/projects/:projectId/reports'],
  privacy: [
    '/api/gdpr',
    '/api/export',
    ...['erasures', 'exports', 'audit'].map((name) => `/api/projects/:projectId/${name}`),
  ],
  admin: ['/api/admin'],
  // Signing out stays possible.
  'sign-in': ['/auth/idp', '/login', '/sign-in'],
} as const satisfies Record<string, readonly string[]>;

/** Of SDKs of other products. Their settings, which they read by GET, are no part of a feature. */
const SDK_PATHS = PROTOCOL_PATHS.filter(({ method }) => method === 'POST').map(({ path }) => toExpressPath(path));

/** Features with routes that scripts of other origins use. */
const READ_BY_SCRIPTS: ReadonlySet<Feature> = new Set(['track', 'identify', 'query', 'mcp']);

export type Feature = keyof typeof PATHS_OF_FEATURE;

/** Throws ConfigProblem for an unknown feature name. */
export function requireFeatures(names: readonly string[]): readonly Feature[] {
  return names.map((name) => {
    if (isFeature(name)) return name;
    const known = Object.keys(PATHS_OF_FEATURE).join(', ');
    throw new ConfigProblem(`FEATURES_OFF: there is no feature "${name}"; the features are ${known}`);
  });
}

export function createFeatureSwitches(off: readonly Feature[]): Router {
  const router = createRouter();
  for (const feature of off) {
    const refuse: RequestHandler = (req, res, next) => {
      // Scripts on other origins must be able to read the error, which needs their preflight.
      if (req.method === 'OPTIONS') return next();
      if (READ_BY_SCRIPTS.has(feature)) allowAnyOrigin(res);
      throw new PublicError('unavailable', `the feature "${feature}" is disabled`);
    };
    router.use([...PATHS_OF_FEATURE[feature]], refuse);
    if (feature === 'track') router.all(SDK_PATHS, onPost(refuse));
  }
  return router;
}

/** For `all`: a route for POST alone would answer OPTIONS by itself. */
const onPost =
  (handle: RequestHandler): RequestHandler =>
  (req, res, next) =>
    req.method === 'POST' ? handle(req, res, next) : next();

const isFeature = (name: string): name is Feature => Object.hasOwn(PATHS_OF_FEATURE, name);
