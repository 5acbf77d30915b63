// Routes that are mounted without a guard must be in the route matrix too.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROUTES } from '../../../src/access/route-matrix.js';
import { packageRoot } from '../../../src/platform/paths.js';

const MOUNTED = /\brouter\s*\.(get|post|put|patch|delete)\(\s*'(\/[^']+)'|\.route\('([^']+)'\)/g;

test('every path that is mounted without a guard is in the route matrix', () => {
  const sources = readdirSync(join(packageRoot, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => readFileSync(join(packageRoot, 'src', name), 'utf8'));
  const mounted = sources.flatMap((source) =>
    [...source.matchAll(MOUNTED)].map(([, method, path, chained]) =>
      path === undefined ? `POST ${chained}` : `${method?.toUpperCase()} ${path.replaceAll(/:(\w+)/g, '{$1}')}`,
    ),
  );
  expect(mounted).toEqual(expect.arrayContaining(['POST /track', 'GET /login', 'GET /healthz', 'POST /auth/logout']));
  const known: readonly string[] = ROUTES.map(({ method, path }) => `${method} ${path}`);
  expect(mounted.filter((route) => !known.includes(route))).toEqual([]);
});
