// Lenient reader of the identify calls of other SDKs: it leaves out and counts what is not valid,
// and keeps the other properties and the mapping of the device. POST /identify refuses such a call
// as a whole, because its caller sees the answer.
import { type IdentifyCall, IdentifyRefusal, readIdentifyCall } from '../../identity/schema.js';
import { isObject, objectOf } from '../../platform/json-object.js';
import { setOwnProperty } from '../../platform/own-property.js';
import type { RawEvent } from '../body.js';
import { type EventLimits, isWithinLength } from '../limits.js';
import { isValueWithinBytes, isValueWithinDepth } from '../schema.js';
import type { SkippedCall } from './protocol.js';
import type { Properties } from './values.js';

/** Undefined for a call of which neither the properties nor the mapping are valid. */
export function readProfile(
  body: RawEvent,
  limits: EventLimits,
  skip: (reason: SkippedCall) => void,
): IdentifyCall | undefined {
  const whole = tryReadCall(body, limits);
  if (whole !== undefined) return whole;
  const leftOut: SkippedCall[] = [];
  const valid = tryReadCall(
    withoutInvalid(body, limits, (reason) => leftOut.push(reason)),
    limits,
  );
  if (valid !== undefined) {
    leftOut.forEach(skip);
    return valid;
  }
  skip('profile_not_valid');
  const { user_id, device_id } = body;
  return device_id === undefined ? undefined : tryReadCall({ user_id, device_id }, limits);
}

function tryReadCall(body: RawEvent, limits: EventLimits): IdentifyCall | undefined {
  try {
    return readIdentifyCall(body, limits);
  } catch (error) {
    if (error instanceof IdentifyRefusal) return undefined;
    throw error;
  }
}

/** The call with the properties that are valid, up to their limit. */
function withoutInvalid(body: RawEvent, limits: EventLimits, skip: (reason: SkippedCall) => void): RawEvent {
  let count = 0;
  const isKept = (key: unknown, value: unknown, isValid: boolean): boolean => {
    const isLong = !isValueWithinDepth(value) || !isValueWithinBytes(value, limits.valueBytesMax);
    const isKey = typeof key === 'string' && key !== '' && isWithinLength(key, limits.keyLengthMax);
    if (isValid && isKey && !isLong && count < limits.userPropertiesMax) {
      count += 1;
      return true;
    }
    skip(isLong ? 'value_too_long' : 'profile_not_valid');
    return false;
  };
  const keep = (values: unknown, isValid: (value: unknown) => boolean = () => true): Properties => {
    if (values !== undefined && values !== null && !isObject(values)) skip('profile_not_valid');
    const kept: Properties = {};
    for (const [key, value] of Object.entries(objectOf(values))) {
      if (isKept(key, value, isValid(value))) setOwnProperty(kept, key, value);
    }
    return kept;
  };
  const { $set, $set_once, $add, $unset } = objectOf(body.user_property_ops);
  return {
    ...body,
    user_properties: keep(body.user_properties),
    user_property_ops: {
      ...{ $set: keep($set), $set_once: keep($set_once), $add: keep($add, Number.isFinite) },
      $unset: Array.isArray($unset) ? $unset.filter((key) => isKept(key, null, true)) : [],
    },
  };
}
