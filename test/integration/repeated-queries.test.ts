// A query that is asked again and again: by default, the engine compiles its expressions from the
// third execution on.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { event } from '../oracle/history.js';
import { type Ask, type OracleService, startOracleService } from '../support/oracle-service.js';

const NOW = Date.UTC(2026, 10, 22);
const TIMES = 6;

let service: OracleService;
let ask: Ask;

beforeAll(async () => {
  service = await startOracleService();
  const events = [event({ event_type: 'signup', time: NOW - 1000, event_properties: { plan: 'pro' }, user_id: 'ann' })];
  const history = { events, mappings: [], profiles: [] };
  [ask] = (await service.store([{ history, context: { now: NOW, timezone: 'UTC' } }])) as [Ask];
});

afterAll(() => service?.close());

test.each([
  'inspect signup | where event_properties.plan !~ "e$" and event_properties.plan not starts with "" and event_properties.plan !~ "e$" | where user.email_domain != "search.example" and event_properties.plan !~ "e$"',
  'signup | where event_properties.plan !~ "e$" and user.email_domain != "search.example" | count',
  'signup | where _browser !~ "e$" and _path not starts with "" and _country != "DE" | count by _country',
])('repeated executions give equal rows: %s', async (text) => {
  const first = await ask(text);
  for (let turn = 1; turn < TIMES; turn += 1) expect((await ask(text)).rows).toEqual(first.rows);
});
