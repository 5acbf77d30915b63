// The checks of stored queries know the properties that the project has sent, and answer with
// fixes: those of dashboards, of definitions, and of dry runs of alerts.
import { expect, test } from 'vitest';
import { type Answer, send } from '../support/accounts.js';
import { alertDocument, REPORT_CARDS } from '../support/alert-documents.js';
import { asOwner, processes, project, purchase, startAlerting } from '../support/alerting.js';
import { applyFixes } from '../support/apply-fixes.js';
import { eventually } from '../support/eventually.js';

startAlerting();

const put = (path: string, text: string): Promise<Answer> =>
  send(processes.url, `PUT ${path}`, { key: project.secretKey, body: { source_yaml: text } });

/** The names of new events are known a few seconds later. */
async function whenRefused(ask: () => Promise<Answer>): Promise<Answer['body']> {
  return eventually(async () => {
    const { status, body } = await ask();
    expect(status).toBe(400);
    expect(body.details).toContainEqual(expect.objectContaining({ hint: 'nearest is "event_properties.kind"' }));
    return body;
  });
}

test('wrong names in stored queries have fixes, with the properties of the project', async () => {
  await purchase();

  const cards = [{ ...REPORT_CARDS[0], query: 'purchase | where kind = "a" | group by week' }];
  const dashboard = alertDocument([{ query: 'purchase | where kind = "b" | count' }], { cards });
  const refused = await whenRefused(() => put('/api/dashboard-sync/sales', dashboard));
  const repaired = applyFixes(dashboard, refused.details);
  expect(JSON.parse(repaired)).toMatchObject({
    sections: [{ cards: [{ query: 'purchase | where event_properties.kind = "a" | by week' }] }],
    alerts: [{ query: 'purchase | where event_properties.kind = "b" | count' }],
  });
  expect((await put('/api/dashboard-sync/sales', repaired)).status).toBe(201);

  const definitions = 'version: 1\nmetrics:\n  a: { query: purchase | where kind = "a" | count }\n';
  const { details } = await whenRefused(() => put('/api/definitions', definitions));
  expect((await put('/api/definitions', applyFixes(definitions, details))).status).toBe(201);

  const alert = { query: 'purchase | where kind = "a" | count', when: 'value < 1' };
  const dryRun = await whenRefused(() => asOwner('POST {project}/alerts/dry-run', alert));
  expect(applyFixes(alert.query, dryRun.details)).toBe('purchase | where event_properties.kind = "a" | count');
});
