// What INFO of a Redis says about keeping accepted events.
import { expect, test } from 'vitest';
import { toKeeping } from '../../../src/platform/redis/keeping.js';

test.each([
  [
    'a server as npm start runs it',
    'aof_enabled:1\r\nmaxmemory_policy:noeviction\r\n',
    true,
    'appendonly yes, noeviction',
  ],
  [
    'a plan without persistence',
    'aof_enabled:0\r\nmaxmemory_policy:noeviction\r\n',
    false,
    'appendonly no, noeviction',
  ],
  ['a cache', 'aof_enabled:1\r\nmaxmemory_policy:allkeys-lru\r\n', false, 'appendonly yes, allkeys-lru'],
  ['a server that does not say', '', false, 'appendonly no, unknown'],
])('%s', (_kind, info, isKept, found) => {
  expect(toKeeping(info)).toEqual({ isKept, found });
});
