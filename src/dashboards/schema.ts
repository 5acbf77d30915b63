// Parses the requests of the dashboard routes: sync body, deletion parameters, variable values of a
// card.
import { z } from 'zod';
import { PublicError } from '../platform/errors.js';
import { parseJsonBody } from '../platform/http/json-body.js';
import { dashboardKey } from './config-schema.js';
import { VISIBILITIES } from './visibility.js';

/** A document of this size has hundreds of cards. */
export const SOURCE_BYTES_MAX = 64 * 1024;

const visibility = z.enum(VISIBILITIES, { error: `is one of ${VISIBILITIES.join(', ')}` });

const dryRun = z.enum(['true', 'false'], { error: 'is true or false' }).optional();

/** Query parameters of a sync. */
export const syncQuery = z.object({ dry_run: dryRun });

/** Query parameters of a deletion. */
export const deletionQuery = z.object({ visibility: visibility.optional() });

/** Query parameters of a creation. */
export const creationQuery = z.object({ key: z.string({ error: 'is required: the key of the dashboard' }) });

/** Query parameters of a change. */
export const changeQuery = z.object({
  base_version: z.coerce
    .number({ error: 'is required: the version that the change is based on' })
    .int({ error: 'is a version' })
    .min(1, { error: 'is a version' }),
  dry_run: dryRun,
});

export const syncBodySchema = z.strictObject({
  source_yaml: z.string({ error: 'is required: the text of the YAML document' }),
  visibility: visibility.optional(),
});

/** The maximum length of an option's value. */
const VALUE_LENGTH_MAX = 8192;
const VALUES_MAX = 1000;

export const fillBodySchema = z.strictObject({
  variables: z
    .record(
      z.string(),
      z
        .string({ error: 'is a text' })
        .max(VALUE_LENGTH_MAX, { error: `is longer than ${VALUE_LENGTH_MAX} characters` }),
      { error: 'is an object: texts by the name of the variable' },
    )
    .default({}),
});

export function parseFillBody(body: unknown): z.infer<typeof fillBodySchema> {
  const given = typeof body === 'object' && body !== null && 'variables' in body ? body.variables : undefined;
  // Counted before parsing: the schema would report a problem for each of thousands.
  if (typeof given === 'object' && given !== null && Object.keys(given).length > VALUES_MAX) {
    throw new PublicError('bad_request', `variables has more than ${VALUES_MAX} values`);
  }
  return parseJsonBody(fillBodySchema, body);
}

export type SyncBody = z.infer<typeof syncBodySchema>;

export const parseSyncBody = (bytes: Uint8Array): SyncBody => parseSourceBody(syncBodySchema, bytes);

/** A body with the text of a document. */
export function parseSourceBody<S extends z.ZodType<{ readonly source_yaml: string }>>(
  schema: S,
  bytes: Uint8Array,
): z.output<S> {
  const sync = parseJsonBody(schema, parseJsonText(bytes));
  if (Buffer.byteLength(sync.source_yaml) > SOURCE_BYTES_MAX) {
    throw new PublicError('too_large', `source_yaml is longer than ${SOURCE_BYTES_MAX} bytes`);
  }
  return sync;
}

function parseJsonText(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString('utf8'));
  } catch (cause) {
    throw new PublicError('bad_request', 'the request body is not valid JSON', { cause });
  }
}

export function parseDashboardKey(text: string): string {
  const parsed = dashboardKey.safeParse(text);
  if (parsed.success) return parsed.data;
  throw new PublicError(
    'bad_request',
    'the key of a dashboard is written in kebab-case, at most 63 characters: letters a to z and digits, joined with "-"',
  );
}
