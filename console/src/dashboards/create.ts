// New dashboards: a key made of the title, with a number behind it when it is taken.

import type { DashboardItem } from '../api/dashboard-list.js';
import { RequestFailed } from '../api/request.js';
import { createDashboard, type NewDashboard } from './api.js';
import { numbered, TRIES } from './numbered-key.js';

const keyOf = (title: string): string =>
  title
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 50)
    .replace(/^-+|-+$/g, '') || 'dashboard';

interface Named {
  readonly title: string;
  readonly visibility: 'personal' | 'project';
  /** A card as YAML, for the first section. */
  readonly card?: string;
}

function toDocument({ title, card }: Pick<Named, 'title' | 'card'>): string {
  const cards = card === undefined ? ' []\n' : `\n${card.replace(/^(?=.)/gm, '      ')}`;
  // A JSON text is a YAML text, too.
  return `version: 1\ntitle: ${JSON.stringify(title)}\nsections:\n  - title: Overview\n    cards:${cards}`;
}

export const createNamed = (projectId: string, named: Named): Promise<DashboardItem> =>
  createCopy(projectId, {
    key: keyOf(named.title),
    visibility: named.visibility,
    source_yaml: toDocument(named),
  });

/** With a number behind the key when it is taken. */
export async function createCopy(projectId: string, copy: NewDashboard): Promise<DashboardItem> {
  for (let count = 1; ; count++) {
    try {
      return await createDashboard(projectId, { ...copy, key: numbered(copy.key, count) });
    } catch (error) {
      const isTaken = error instanceof RequestFailed && error.message.includes('another dashboard with the key');
      if (!isTaken || count > TRIES) throw error;
    }
  }
}
