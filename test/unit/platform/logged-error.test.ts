// What a log line says of an error: no trace of an outage, and the trace of a fault.
import { type AddressInfo, createServer } from 'node:net';
import { ClickHouseError } from '@clickhouse/client';
import { expect, test } from 'vitest';
import { createClickHouse } from '../../../src/platform/clickhouse/client.js';
import { createLogger } from '../../../src/platform/log.js';
import { toLogged } from '../../../src/platform/logged-error.js';
import { createFailFastRedis } from '../../../src/platform/redis/client.js';
import { LeaseLost } from '../../../src/platform/redis/lease-lost.js';
import { RepeatedErrors } from '../../../src/platform/repeated-warning.js';

const ofClickHouse = (code: string) => new ClickHouseError({ code, message: 'refused', type: 'SOME_TYPE' });
const ofRedis = (message: string) => Object.assign(new Error(message), { name: 'ReplyError' });
const refused = (address: string) =>
  Object.assign(new Error(`connect ECONNREFUSED ${address}`), { code: 'ECONNREFUSED' });
/** As Node throws it for a name with two addresses. */
const refusedTwice = () =>
  Object.assign(new AggregateError([refused('127.0.0.1:5432'), refused('[::1]:5432')]), { code: 'ECONNREFUSED' });
const asJson = (error: unknown) => JSON.parse(JSON.stringify({ err: toLogged(error) })).err;

const OUTAGES: readonly [string, Error][] = [
  ['a refused connection', refused('127.0.0.1:5432')],
  ['a name with two addresses', refusedTwice()],
  ['a starting PostgreSQL', Object.assign(new Error('the database system is starting up'), { code: '57P03' })],
  ['a PostgreSQL without free connections', Object.assign(new Error('sorry, too many clients'), { code: '53300' })],
  ['a PostgreSQL that only reads', Object.assign(new Error('cannot execute INSERT'), { code: '25006' })],
  ['a name server that does not answer', Object.assign(new Error('getaddrinfo'), { code: 'EAI_AGAIN' })],
  ['a Redis that is loading', ofRedis('LOADING Redis is loading the dataset in memory')],
  ['a lost lease of a job', new LeaseLost()],
  ['a full disk of ClickHouse', ofClickHouse('243')],
  ['an error that an outage has caused', new Error('no answer', { cause: refused('127.0.0.1:8123') })],
];

test.each(OUTAGES)('%s has no trace', (_name, error) => {
  const logged = asJson(error);
  expect(logged.message).toContain(error.message);
  expect(JSON.stringify(logged)).not.toContain('    at ');
});

test.each([
  ['a fault', new TypeError('x is not a function')],
  ['an unknown name in a statement', ofClickHouse('47')],
  ['a row that PostgreSQL has already', Object.assign(new Error('duplicate key'), { code: '23505' })],
  ['a key of another type in Redis', ofRedis('WRONGTYPE Operation against a key')],
  ['a fault with a cause', new Error('outer', { cause: new TypeError('inner') })],
])('%s has its trace', (_name, error) => {
  expect(asJson(error).stack).toContain('    at ');
});

test('the addresses that refused are named', () => {
  const logged = asJson(refusedTwice());
  const named = logged.aggregateErrors.map(({ message }: Error) => message);
  expect(named).toEqual(['connect ECONNREFUSED 127.0.0.1:5432', 'connect ECONNREFUSED [::1]:5432']);
});

test('errors of the clients of Redis and ClickHouse name the store', async () => {
  const redis = createFailFastRedis(
    { REDIS_URL: 'redis://127.0.0.1:1' },
    createLogger({ process: 'a', level: 'silent' }),
  );
  const lost: unknown = await redis.get('a').catch((error: unknown) => error);
  redis.disconnect();
  const silent = createServer();
  await new Promise<void>((resolve) => void silent.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  const clickhouse = createClickHouse({ CLICKHOUSE_URL: url, CLICKHOUSE_DATABASE: 'a' }, { requestTimeoutMs: 50 });
  const late: unknown = await clickhouse.command({ query: 'SELECT 1' }).catch((error: unknown) => error);
  await clickhouse.close();
  silent.close();
  expect([asJson(lost), asJson(late)]).toEqual([
    expect.objectContaining({ message: "Redis: Stream isn't writeable and enableOfflineQueue options is false" }),
    expect.objectContaining({ message: 'ClickHouse: Timeout error.' }),
  ]);
});

test('a discarded transaction says what Redis has refused, unless that may quote data', () => {
  const refusal = (message: string) => Object.assign(new Error(message), { name: 'ReplyError' });
  const discarded = (previous: string) =>
    Object.assign(refusal('EXECABORT Transaction discarded.'), { previousErrors: [refusal(previous)] });
  const full = 'MISCONF Errors writing to the AOF file: No space left on device';
  expect(asJson(discarded(full)).message).toBe(`EXECABORT Transaction discarded. ${full}`);
  expect(asJson(discarded("ERR unknown command 'ada'")).message).toBe('EXECABORT Transaction discarded.');
});

test('the leases of all jobs of a process, lost in one outage, are one line', () => {
  const errors = new RepeatedErrors();
  expect([new LeaseLost(), new LeaseLost()].map((lost) => errors.take(lost))).toEqual([0, undefined]);
});

test('what is no error stays as it is', () => {
  expect([asJson('a text'), asJson({ code: '241' })]).toEqual(['a text', { code: '241' }]);
});
