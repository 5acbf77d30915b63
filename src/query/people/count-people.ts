// The number of different people of a selection: the ids of its events are made different first, so
// that a device is looked up once instead of for each of its events.
import type { EventSelection } from '../analyze/resolved.js';
import { map } from '../plan/behaviour.js';
import {
  alias,
  allOf,
  column,
  constant,
  type Expression,
  equals,
  infix,
  mapped,
  tupleElement,
} from '../plan/expressions.js';
import { fn } from '../plan/functions.js';
import { type Select, select, step } from '../plan/plan.js';
import { joinDevices } from './devices.js';
import { type PlanContext, scanEvents } from './scan.js';

const NO_ID = fn.toUInt64(constant(0));

const isThere = (hash: Expression): Expression => infix('!=', hash, constant(0));

/** One row with the column `metric`; undefined where the scan joins something already. */
export function selectPeopleCount(context: PlanContext, selection: EventSelection, metric: string): Select | undefined {
  const [userHash, deviceHash] = [column('user_hash'), column('device_hash')];
  // Two sets of numbers take less time than groups of pairs.
  const sets = {
    users: fn.groupUniqArrayIf(userHash, isThere(userHash)),
    anonymous_devices: fn.groupUniqArrayIf(deviceHash, allOf([equals(userHash, constant(0)), isThere(deviceHash)])),
  };
  const from = scanEvents(context, { selection, reads: Object.values(sets) });
  if (from.joins.length > 0) return undefined;
  const ids = fn.arrayConcat(
    map(alias('users'), 'user', (user) => fn.tuple(user, NO_ID)),
    map(alias('anonymous_devices'), 'device', (device) => fn.tuple(NO_ID, device)),
  );
  const rows = select({
    columns: { id: fn.arrayJoin(ids) },
    from: step('different_ids', select({ columns: sets, from })),
  });
  const [user, device] = [tupleElement(alias('id'), 1), tupleElement(alias('id'), 2)];
  const mappedUser = mapped('user_hash');
  const person = fn.if(isThere(user), user, fn.if(isThere(mappedUser), mappedUser, device));
  return select({
    columns: { [metric]: fn.uniqExact(person) },
    from: {
      kind: 'joined',
      rows: step('id_of_row', rows),
      join: { ...joinDevices(context.projectId, { hasUserIds: false }), left: device },
    },
  });
}
