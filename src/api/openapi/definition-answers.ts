// Response schema of the uses of definitions.
import { z } from 'zod';
import { USE_PLACES } from '../../definitions/uses.js';
import { DEFINITION_KINDS } from '../../query/definitions/definitions.js';

export const definitionUse = z.strictObject({
  kind: z.enum(DEFINITION_KINDS).meta({ description: 'of the definition that is used' }),
  name: z.string(),
  in: z.enum(USE_PLACES),
  dashboard: z
    .strictObject({ id: z.uuid(), key: z.string(), title: z.string() })
    .nullable()
    .meta({ description: 'null for a use by another definition' }),
  id: z.string().meta({ description: 'of the card or the alert; the name of the variable or the definition' }),
  title: z.string(),
});
