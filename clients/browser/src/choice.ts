// Experiments: assigns the visitor's variant in the browser and records the exposure once per
// session.
import { assignVariant } from '../../node/src/assignment.js';
import { isAllowed } from './consent.js';
import { deviceId, touchSession } from './identity.js';
import { settings } from './settings.js';
import { exposedEntry, userEntry } from './storage.js';
import { track } from './track.js';

interface ChoiceOptions {
  /** One weight per variant; equal weights when absent. */
  readonly weights?: readonly number[];
  readonly version?: unknown;
  readonly environment?: string;
  /** Randomization unit: the device, or `user_id`. */
  readonly unit?: string;
}

/** Without consent or without an id: the first variant, without exposure. */
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
  if (variant != null && !exposed.includes(assignmentId)) {
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
    // Last: properties that cannot be serialized throw above.
    exposedEntry(exposed + assignmentId);
  }
  return variant;
};
