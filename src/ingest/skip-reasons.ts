// Why an event is not accepted, as counts, samples and answers name it.

export const SKIP_REASONS = [
  'not_an_object',
  'event_type_missing',
  'event_type_too_long',
  'id_not_a_string',
  'id_not_exact',
  'id_too_long',
  'properties_not_an_object',
  'too_many_properties',
  'property_key_length',
  'property_value_too_deep',
  'property_value_too_long',
] as const;
export type SkipReason = (typeof SKIP_REASONS)[number];
