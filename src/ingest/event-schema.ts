// Zod schemas of POST /track for the OpenAPI document. The route validates with schema.ts, which is
// ten times as fast; a test compares the two.
import { z } from 'zod';
import { EVENT_TYPE_LENGTH_MAX, ID_LENGTH_MAX } from './limits.js';

const id = (description: string) =>
  z
    .union([
      z.string().max(ID_LENGTH_MAX),
      z.number().min(-Number.MAX_SAFE_INTEGER).max(Number.MAX_SAFE_INTEGER),
      z.null(),
    ])
    .optional()
    .meta({ description });

const properties = z
  .union([z.record(z.string().min(1), z.unknown()), z.null()])
  .optional()
  .meta({ description: 'keys to text, numbers, booleans or null; objects and lists are kept as their JSON text' });

const client = (description: string, example: unknown) =>
  z
    .unknown()
    .optional()
    .meta({ description: `${description}; only of secret keys, otherwise ignored`, examples: [example] });

const origin = {
  clientOriginated: z.unknown().optional().meta({ description: 'true of browser clients' }),
  origin: z
    .unknown()
    .optional()
    .meta({ description: '"client" or "server"', examples: ['server'] }),
};

export const eventSchema = z.looseObject({
  event_type: z.string().min(1).max(EVENT_TYPE_LENGTH_MAX),
  user_id: id('the identified user'),
  device_id: id('the anonymous device'),
  session_id: id('the session'),
  insert_id: id('events of one type, time and insert_id count once; made by the service when absent'),
  time: z
    .unknown()
    .optional()
    .meta({
      description:
        'RFC 3339 or ISO 8601, or epoch milliseconds or seconds; the time of the server when absent or not readable',
      examples: ['2026-01-31T10:00:00Z'],
    }),
  event_properties: properties,
  user_properties: properties,
  library: z
    .unknown()
    .optional()
    .meta({ description: 'the sending client', examples: ['service-js/1.0.0'] }),
  ip: client('address of the client, kept by the policy of the project; gives the geography', '203.0.113.9'),
  user_agent: client(
    'user agent of the client',
    'Mozilla/5.0 (X11; Linux x86_64; rv:132.0) Gecko/20100101 Firefox/132.0',
  ),
  agent: client(
    'parts of the client where it has no user agent, or instead of those of the user agent: browser, browser_version, os, os_version, device_type ("desktop", "mobile", "bot")',
    { browser: 'Firefox', os: 'Linux', device_type: 'desktop' },
  ),
  geo: client('geography of the client instead of that of its address', { country: 'DE', city: 'Berlin' }),
  ...origin,
});

/** An event that violates the schema is skipped; the batch is still accepted. */
export const batchSchema = z.looseObject({ events: z.array(eventSchema), ...origin });
