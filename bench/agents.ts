// Calls of agents by POST /mcp: the time of the tool check, for right queries and for wrong ones,
// whose fixes are compiled too, and of tools/list.
import { digestKey, newKey, shownPrefix } from '../src/access/keys.js';
import { newUuidV7 } from '../src/platform/ids.js';
import { createPostgres } from '../src/platform/postgres/client.js';
import { atMost, type Measurement } from './measurement.js';
import type { BenchContext, Stack } from './stack.js';
import { median, percentile } from './statistics.js';

const CHECK_MS_MAX = 10;

const RIGHT = [
  'signup | last 30d | count by day',
  'purchase | last 30d | sum event_properties.price by week, user.plan',
  'funnel page_view -> signup -> purchase | last 30d | window 7d | by _platform',
  '* | where count(purchase last 30d) >= 3 | unique by week | compare previous',
];
const WRONG = [
  'signup | group by day',
  'select _country, count(*) from page_view group by _country order by 2 desc limit 10',
  'funnel signup, purchase | within 3 days',
  'purchase | where _country = "DE" || _country = "FR" | sum(price) per week',
];

export async function benchAgents({ stack, isQuick, say }: BenchContext): Promise<Measurement[]> {
  const token = await createToken(stack);
  const times = isQuick ? 5 : 100;
  const measure = (message: (index: number) => object): Promise<number[]> =>
    timed(times, (index) => send(stack, token, message(index)));
  const check = (queries: readonly string[]) => (index: number) => ({
    method: 'tools/call',
    params: { name: 'check', arguments: { q: queries[index % queries.length] } },
  });
  say('agents: warming up');
  await measure(check([...RIGHT, ...WRONG]));
  say('agents: measuring');
  const results = [
    { name: 'check of a right query', delays: await measure(check(RIGHT)) },
    { name: 'check of a wrong query', delays: await measure(check(WRONG)) },
    { name: 'tools/list', delays: await measure(() => ({ method: 'tools/list', params: {} })) },
  ];
  const idle = await timed(times, async () => void (await (await fetch(`${stack.url}/healthz`)).text()));
  return [
    ...results.flatMap(({ name, delays }) => [
      { name: `${name}, median`, value: median(delays), unit: 'ms', aim: atMost(CHECK_MS_MAX) },
      { name: `${name}, 95th percentile`, value: percentile(delays, 0.95), unit: 'ms' },
    ]),
    { name: 'a request that does nothing, median', value: median(idle), unit: 'ms' },
  ];
}

async function timed(times: number, run: (index: number) => Promise<void>): Promise<number[]> {
  const delays: number[] = [];
  for (let index = 0; index < times; index += 1) {
    const startedMs = performance.now();
    await run(index);
    delays.push(performance.now() - startedMs);
  }
  return delays;
}

async function createToken({ postgresUrl, projectId }: Stack): Promise<string> {
  const postgres = createPostgres({ DATABASE_URL: postgresUrl });
  const token = newKey('token');
  const own = { id: newUuidV7(), project_id: projectId, name: 'bench', kind: 'service', scopes: ['query'] };
  const secret = { digest: digestKey(token), prefix: shownPrefix(token), expires_at: new Date(Date.now() + 3_600_000) };
  await postgres('access_tokens').insert({ ...own, ...secret });
  await postgres.destroy();
  return token;
}

async function send({ url }: Stack, token: string, message: object): Promise<void> {
  const response = await fetch(`${url}/mcp`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...message }),
  });
  const text = await response.text();
  if (!response.ok || !text.includes('"result"')) throw new Error(`/mcp: status ${response.status}, ${text}`);
}
