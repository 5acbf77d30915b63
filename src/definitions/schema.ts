// Parses the requests of the routes of definitions.
import { z } from 'zod';

export const definitionsBodySchema = z.strictObject({
  source_yaml: z.string({ error: 'is required: the text of the YAML document' }),
});

const flag = z.enum(['true', 'false'], { error: 'is true or false' }).optional();
const baseVersion = z.coerce
  .number({ error: 'is a version' })
  .int({ error: 'is a version' })
  .min(0, { error: 'is a version' });

/** Query parameters of a change by a key or a token. */
export const syncQuery = z.object({ base_version: baseVersion.optional(), dry_run: flag });

/** Query parameters of a change in the console; 0 is the base of the first version. */
export const changeQuery = z.object({
  base_version: baseVersion,
  dry_run: flag,
  detach: flag.meta({ description: 'allows a change of definitions that a repository syncs' }),
});
