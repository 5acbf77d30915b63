// Environment of the stacks that benchmarks start: never the stores of the machine.
import { expect, test } from 'vitest';
import { withoutStores } from '../../../bench/start-stack.js';

test('stores of the machine are replaced by none, so that npm start does not read them from .env', () => {
  expect(withoutStores({ PATH: '/bin', DATABASE_URL: 'postgres://live' })).toEqual({
    ...{ PATH: '/bin', DATABASE_URL: '', REDIS_URL: '', CLICKHOUSE_URL: '' },
  });
});
