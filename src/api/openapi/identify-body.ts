// Schema of POST /identify for the document. The route validates by hand; a test compares the two.
import { z } from 'zod';

const exactNumber = z.number().min(-Number.MAX_SAFE_INTEGER).max(Number.MAX_SAFE_INTEGER);
const id = z.union([z.string().min(1).max(512), exactNumber]);
const map = z.record(z.string().min(1), z.unknown());

export const identifyBody = z.looseObject({
  user_id: id,
  device_id: z.union([z.string().max(512), exactNumber, z.null()]).optional(),
  user_properties: map.nullable().optional().meta({ description: 'keys to values; acts as $set' }),
  user_property_ops: z
    .strictObject({
      $set: map.nullable().optional(),
      $set_once: map.nullable().optional(),
      $add: z.record(z.string().min(1), z.number()).nullable().optional(),
      $unset: z.array(z.string().min(1)).nullable().optional(),
    })
    .nullable()
    .optional(),
});

export const identifyBatch = z.object({
  calls: z
    .array(
      z.looseObject({
        user_id: id,
        device_id: identifyBody.shape.device_id,
        time: z.union([z.string(), z.number()]).meta({ description: 'time of the record, as that of an event' }),
        user_properties: map.nullable().optional(),
        user_property_ops: z.strictObject({ $set: map.nullable().optional() }).nullable().optional(),
      }),
    )
    .max(1000),
});

export const identifiedBatch = z.object({ accepted: z.int() });
