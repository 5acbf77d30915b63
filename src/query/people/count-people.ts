// The number of different people of a selection: the ids of its events are made different first, so
// that a device is looked up once instead of for each of its events. By groups, this takes less
// time only where groups are few: each has its own sets.
import type { EventSelection } from '../analyze/resolved.js';
import { passThrough } from '../plan/answer.js';
import { map } from '../plan/behaviour.js';
import {
  alias,
  allOf,
  anyOf,
  column,
  constant,
  type Expression,
  equals,
  infix,
  mapped,
  tupleElement,
} from '../plan/expressions.js';
import { fn } from '../plan/functions.js';
import { type Columns, type Select, select, step } from '../plan/plan.js';
import { joinDevices } from './devices.js';
import { type PlanContext, scanEvents } from './scan.js';

const NO_ID = fn.toUInt64(constant(0));

const isThere = (hash: Expression): Expression => infix('!=', hash, constant(0));

interface PeopleCount {
  readonly selection: EventSelection;
  /** Few groups, by their columns. */
  readonly groups: Columns;
  /** Column of the count. */
  readonly metric: string;
}

/** A row for each group, or one; undefined where the scan joins something already. */
export function selectPeopleCount(
  context: PlanContext,
  { selection, groups, metric }: PeopleCount,
): Select | undefined {
  const [userHash, deviceHash] = [column('user_hash'), column('device_hash')];
  // Two sets of numbers take less time than groups of pairs.
  const sets = {
    ...groups,
    users: fn.groupUniqArrayIf(userHash, isThere(userHash)),
    anonymous_devices: fn.groupUniqArrayIf(deviceHash, allOf([equals(userHash, constant(0)), isThere(deviceHash)])),
  };
  const from = scanEvents(context, { selection, reads: Object.values(sets) });
  if (from.joins.length > 0) return undefined;
  const names = Object.keys(groups);
  const isGrouped = names.length > 0;
  const groupBy = isGrouped ? { groupBy: names } : {};
  const ids = fn.arrayConcat(
    map(alias('users'), 'user', (user) => fn.tuple(user, NO_ID)),
    map(alias('anonymous_devices'), 'device', (device) => fn.tuple(NO_ID, device)),
  );
  const rows = select({
    // A group without people keeps its row.
    columns: { ...passThrough(...names), id: fn.arrayJoin(isGrouped ? fn.emptyArrayToSingle(ids) : ids) },
    from: step('different_ids', select({ columns: sets, from, ...groupBy })),
  });
  const [user, device] = [tupleElement(alias('id'), 1), tupleElement(alias('id'), 2)];
  const mappedUser = mapped('user_hash');
  const person = fn.if(isThere(user), user, fn.if(isThere(mappedUser), mappedUser, device));
  const count = isGrouped ? fn.uniqExactIf(person, anyOf([isThere(user), isThere(device)])) : fn.uniqExact(person);
  return select({
    columns: { ...passThrough(...names), [metric]: count },
    from: {
      kind: 'joined',
      rows: step('id_of_row', rows),
      join: { ...joinDevices(context.projectId, { hasUserIds: false }), left: device },
    },
    ...groupBy,
  });
}
