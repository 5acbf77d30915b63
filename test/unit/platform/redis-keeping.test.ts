// What INFO of a Redis says about keeping accepted events.
import { expect, test } from 'vitest';
import { findFailedWrite, toKeeping } from '../../../src/platform/redis/keeping.js';

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

test.each([
  ['aof_last_write_status:ok\r\nrdb_last_bgsave_status:ok\r\n', undefined],
  ['aof_last_write_status:err\r\nrdb_last_bgsave_status:ok\r\n', 'its append-only file cannot be written'],
  ['rdb_last_bgsave_status:err\r\naof_last_write_status:ok\r\n', 'its last snapshot has failed'],
])('%j', (info, failed) => {
  expect(findFailedWrite(info)).toBe(failed);
});
