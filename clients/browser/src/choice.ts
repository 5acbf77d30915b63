// Experiments: the variant of this visitor, decided here, and recorded once in a session.
import { assignVariant } from '../../node/src/assignment.js';
import { isAllowed } from './consent.js';
import { deviceId, touchSession } from './identity.js';
import { settings } from './settings.js';
import { exposedEntry, userEntry } from './storage.js';
import { track } from './track.js';

interface ChoiceOptions {
  /** One for each variant; without them all weigh the same. */
  readonly weights?: readonly number[];
  readonly version?: unknown;
  readonly environment?: string;
  /** Whose variant it is: that of the device, or `user_id`. */
  readonly unit?: string;
}

/** Where nothing may be tracked, or nobody is known to choose for, it is the first variant, and not recorded. */
export const choice = (
  choiceKey: string,
  variants: readonly string[],
  { weights, version, environment = 'production', unit = 'device_id' }: ChoiceOptions = {},
): unknown => {
  const subject = isAllowed() && (unit === 'user_id' ? userEntry() : deviceId());
  if (!subject) return variants[0];
  const { variant, weight, assignmentId } = assignVariant(
    [(settings.project || settings.key) as string, environment, choiceKey, subject],
    variants,
    weights,
  );
  touchSession();
  const exposed = exposedEntry() || '';
  if (!exposed.includes(assignmentId)) {
    exposedEntry(exposed + assignmentId);
    const properties = {
      choice_key: choiceKey,
      variant_key: variant,
      variant_weight: weight,
      choice_version: version,
      environment,
      randomization_unit: unit,
      assignment_id: assignmentId,
    };
    track('service.exposure', properties, undefined, assignmentId);
  }
  return variant;
};
