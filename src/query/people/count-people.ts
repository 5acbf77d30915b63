// The number of different people of a selection: the ids of its events are made different first, so
// that a device is looked up once instead of for each of its events.
import type { EventSelection } from '../analyze/resolved.js';
import { alias, column, constant, type Expression, infix, mapped } from '../plan/expressions.js';
import { fn } from '../plan/functions.js';
import { type Select, select, step } from '../plan/plan.js';
import { anonymousDevice, joinDevices } from './devices.js';
import { type PlanContext, scanEvents } from './scan.js';

const IDS = { user: 'user', device: 'anonymous_device' } as const;

/** One row with the column `metric`; undefined where the scan joins something already. */
export function selectPeopleCount(context: PlanContext, selection: EventSelection, metric: string): Select | undefined {
  const columns = { [IDS.user]: column('user_hash'), [IDS.device]: anonymousDevice };
  const from = scanEvents(context, { selection, reads: Object.values(columns) });
  if (from.joins.length > 0) return undefined;
  const [user, device] = [alias(IDS.user), alias(IDS.device)];
  const isThere = (hash: Expression): Expression => infix('!=', hash, constant(0));
  const mappedUser = mapped('user_hash');
  const person = fn.if(isThere(user), user, fn.if(isThere(mappedUser), mappedUser, device));
  return select({
    columns: { [metric]: fn.uniqExactIf(person, infix('OR', isThere(user), isThere(device))) },
    from: {
      kind: 'joined',
      rows: step('different_ids', select({ columns, from, groupBy: Object.values(IDS) })),
      join: { ...joinDevices(context.projectId, { hasUserIds: false }), left: device },
    },
  });
}
