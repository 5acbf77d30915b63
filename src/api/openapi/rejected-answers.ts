// Answer of the route that reads rejected events and ignored fields, for the OpenAPI document.
import { z } from 'zod';
import { IGNORING_ROUTES } from '../../ingest/rejected/ignored-fields.js';
import { SKIP_REASONS } from '../../ingest/schema.js';

const moment = z.iso.datetime();
const reason = z.enum(SKIP_REASONS);
export const rejected = z.strictObject({
  counts: z.array(z.strictObject({ date: z.iso.date(), reason, events: z.int().min(1) })),
  samples: z.array(
    z.strictObject({
      at: moment,
      reason,
      event: z.string().meta({ description: 'the beginning of its JSON, without keys of the service and addresses' }),
    }),
  ),
  ignored_fields: z.array(
    z.strictObject({
      route: z.enum(IGNORING_ROUTES),
      field: z
        .string()
        .meta({ description: 'an unknown field of an event, of an identify call, or of a batch beside them' }),
      instead: z
        .string()
        .meta({ description: 'the field that takes what it holds', examples: ['time', 'events[].user_id'] }),
      last_at: moment,
    }),
  ),
});
