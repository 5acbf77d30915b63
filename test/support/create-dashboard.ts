// A dashboard of the shop that a test of the console uses, as its owner makes it.
import { randomUUID } from 'node:crypto';
import type { ConsoleShop } from './console-shop.js';

/** With one card, `orders`, of the numbers of purchases. */
export const SALES = `version: 1
title: Sales
sections:
  - title: Numbers
    cards:
      - {id: orders, title: Orders, kind: metric, viz: number, query: 'purchase | last 7d | count'}
`;

/** Resolves with the id. The key of the dashboard is new each time. */
export async function createDashboard(shop: ConsoleShop, source: string, visibility = 'project'): Promise<string> {
  const response = await fetch(`${shop.url}/api/projects/${shop.id}/dashboards?key=${randomUUID()}`, {
    method: 'POST',
    headers: { Cookie: `service_session=${shop.owner.get('service_session')}`, Origin: shop.url },
    body: JSON.stringify({ source_yaml: source, visibility }),
  });
  return ((await response.json()) as { dashboard: { id: string } }).dashboard.id;
}
