// Answers 405 with `Allow` when the path of a request is a route of the matrix by other methods.
// Mounted behind all routes, so that it costs only requests that none has answered.
import type { RequestHandler } from 'express';
import { PublicError } from '../platform/errors.js';
import type { RouteRule } from './route-matrix.js';

type Route = Pick<RouteRule, 'method' | 'path'>;

export function createMethodCheck(routes: readonly Route[]): RequestHandler {
  const methodsOf = createMethodLookup(routes);
  return (req, res, next) => {
    const methods = methodsOf(req.path);
    // A route by this method that did not answer is switched off.
    if (methods.length === 0 || methods.includes(req.method)) return next();
    res.set('Allow', methods.join(', '));
    throw new PublicError('method_not_allowed', `${req.method} is not possible here; use ${methods.join(' or ')}`);
  };
}

/** The methods of a path, with HEAD, which every GET answers; none for an unknown path. */
export function createMethodLookup(routes: readonly Route[]): (path: string) => readonly string[] {
  const patterns = new Map<string, { readonly pattern: RegExp; readonly methods: Set<string> }>();
  for (const { method, path } of routes) {
    const known = patterns.get(path) ?? { pattern: toPattern(path), methods: new Set() };
    known.methods.add(method);
    if (method === 'GET') known.methods.add('HEAD');
    patterns.set(path, known);
  }
  const all = [...patterns.values()];
  return (path) => [...new Set(all.flatMap(({ pattern, methods }) => (pattern.test(path) ? [...methods] : [])))];
}

const toPattern = (path: string): RegExp =>
  new RegExp(`^${path.replaceAll(/[.*+?^$()|[\]\\]/g, '\\$&').replaceAll(/\{\w+\}/g, '[^/]+')}$`);
