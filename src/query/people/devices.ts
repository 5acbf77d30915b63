// Identity of events: scans that join the device mapping, and conditions on the devices of people.
import type { ProjectId } from '../../platform/ids.js';
import {
  allOf,
  anyOf,
  column,
  constant,
  type Expression,
  equals,
  infix,
  isOneOf,
  type MappedColumn,
  partsOf,
  rowsOf,
} from '../plan/expressions.js';
import { fn } from '../plan/functions.js';
import { type EventScan, type Join, type ScanTime, select, step } from '../plan/plan.js';

interface ScanParts {
  readonly projectId: ProjectId;
  readonly time: ScanTime;
  readonly filter: readonly Expression[];
  /** Expressions over the scan's rows, besides its filter. */
  readonly reads: readonly Expression[];
  readonly joins?: readonly Join[];
  /** Hashes of the people whose events pass the filter, when it names them. */
  readonly people?: Expression | undefined;
}

/** Joins the device mapping only if an expression reads it. */
export function scanWithDevices({ projectId, time, filter, reads, joins = [], people }: ScanParts): EventScan {
  const mapped = new Set<MappedColumn>();
  for (const part of partsOf([...reads, ...filter, ...joins.map(({ left }) => left)])) {
    if (part.kind === 'mapped') mapped.add(part.column);
  }
  const devices = mapped.size > 0 ? [joinDevices(projectId, { hasUserIds: mapped.has('user_id'), people })] : [];
  return { kind: 'events', projectId, time, joins: [...devices, ...joins], filter };
}

interface JoinedDevices {
  readonly hasUserIds: boolean;
  /** Instead of the devices of all people. */
  readonly people?: Expression | undefined;
}

export function joinDevices(projectId: ProjectId, { hasUserIds, people }: JoinedDevices): Join {
  const rows = select({
    columns: {
      mapped_device_hash: column('device_hash'),
      mapped_user_hash: column('user_hash'),
      ...(hasUserIds && { mapped_user_id: column('user_id') }),
    },
    from: { kind: 'device_map', projectId, filter: people ? [isOneOf(column('user_hash'), people)] : [] },
  });
  return {
    step: step('devices', rows),
    left: anonymousDevice,
    right: 'mapped_device_hash',
    others: 'kept',
  };
}

/** Whether the event has no user id of its own. */
const isAnonymous = equals(column('user_hash'), constant(0));

/**
 * The device of an event without a user id, else 0: the lookup of a device is usually a cache miss.
 */
const anonymousDevice: Expression = fn.if(isAnonymous, column('device_hash'), constant(0));

interface MappedDevices {
  readonly by: 'user_hash' | 'device_hash' | 'device_id';
  readonly values: Expression;
}

/**
 * Events of the people with these hashes, without stitching every event first: those of the user,
 * those of devices mapped to the user, and those of an unmapped device with this id. Both hashes
 * have an index.
 */
export function isOfPeople(projectId: ProjectId, hashes: Expression, devices: MappedDevices): Expression {
  const [user, device] = [column('user_hash'), column('device_hash')];
  const among = ({ by, values }: MappedDevices): Expression =>
    rowsOf(
      select({
        columns: { device_hash: device },
        from: { kind: 'device_map', projectId, filter: [isOneOf(column(by), values)] },
      }),
    );
  return anyOf([
    isOneOf(user, hashes),
    allOf([isAnonymous, isOneOf(device, among({ by: 'user_hash', values: hashes }))]),
    allOf([isAnonymous, isOneOf(device, hashes), infix('NOT IN', device, among(devices))]),
  ]);
}
