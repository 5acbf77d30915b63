// Methods of a path, from the route matrix.
import { expect, test } from 'vitest';
import { createMethodLookup } from '../../../src/access/allowed-methods.js';

const methodsOf = createMethodLookup([
  { method: 'GET', path: '/a/{id}' },
  { method: 'DELETE', path: '/a/{id}' },
  { method: 'POST', path: '/a/{id}/b' },
  { method: 'GET', path: '/a/fixed.txt' },
  { method: 'PUT', path: '/a/fixed.txt' },
]);

test.each([
  ['/a/1', ['GET', 'HEAD', 'DELETE']],
  ['/a/1/b', ['POST']],
  ['/a/fixed.txt', ['GET', 'HEAD', 'DELETE', 'PUT']],
  ['/a/fixedxtxt', ['GET', 'HEAD', 'DELETE']],
  ['/a/1/', []],
  ['/a/', []],
  ['/A/1', []],
  ['/b', []],
])('of %s are %j', (path, methods) => {
  expect(methodsOf(path)).toEqual(methods);
});
