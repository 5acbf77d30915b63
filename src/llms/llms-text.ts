// Text of /llms.txt: the service and its query language for a language model, in under 3,500
// tokens. Names come from the tables of the compiler.

import {
  DISTINCT_ID,
  EVENT_FIELD_NAMES,
  FIELD_CATEGORIES,
  type FieldCategory,
  findEventField,
  PROPERTY_BAGS,
} from '../query/fields.js';
import { type NameSpec, STAGES } from '../query/language.js';
import { PROFILE_KEYS } from '../query/profile-fields.js';
import { SESSION_KEYS } from '../query/session-fields.js';
import { SOURCES } from '../query/sources/index.js';
import { EXAMPLES } from './examples.js';

const lines = (table: Readonly<Record<string, NameSpec>>): string =>
  Object.values(table)
    .map(({ example, about }) => `- \`${example}\`: ${about}`)
    .join('\n');

/** Default ranges of other lengths than that of events: "lifecycle, user 30; retention 84". */
function otherRanges(): string {
  const sources = Object.entries(SOURCES).filter(([, { days }]) => days !== SOURCES.event.days);
  const lengths = [...new Set(sources.map(([, { days }]) => days))];
  const named = (length: number) => sources.filter(([, { days }]) => days === length).map(([name]) => name);
  return lengths.map((length) => `${named(length).join(', ')} ${length}`).join('; ');
}

const fieldsOf = (category: FieldCategory): string =>
  EVENT_FIELD_NAMES.filter(
    (name) => (name === DISTINCT_ID ? 'core' : findEventField(name)?.category) === category,
  ).join(', ');

const fields = (): string =>
  [
    ...FIELD_CATEGORIES.map((category) => `- ${category}: ${fieldsOf(category)}`),
    `- properties: ${Object.keys(PROPERTY_BAGS)
      .map((bag) => `${bag}.KEY`)
      .join(', ')}`,
    `- profile of the person: user.KEY with ${PROFILE_KEYS.join(', ')}, or any property`,
    `- session of the event: session.KEY; newest and first session of the person: user_last_session.KEY, user_first_session.KEY; with ${SESSION_KEYS.join(', ')}`,
  ].join('\n');

const examples = (): string => EXAMPLES.map(([question, query]) => `- ${question}\n  \`${query}\``).join('\n');

export const toLlmsText = (): string => `# Event Analytics Service

> Product analytics over HTTP, with a pipe query language.

Keys go in the header \`X-API-Key\`: \`pk_\` (public) may track and identify; \`sk_\` (secret) may do everything; \`aat_\` tokens have scopes. Bodies are JSON. Errors are \`{"error": "…"}\`; a wrong query is 400 with every mistake in \`details\`, each with line, column, hint and often a \`fix\` (its text replaces \`length\` characters there): repair and ask again. 429: wait 60 s.

- \`POST /track\` \`{"event_type": "signup", "user_id": "u1", "device_id": "d1", "session_id": "s1", "time": "2026-01-31T10:00:00Z", "event_properties": {"plan": "pro"}, "insert_id": "x1"}\`, or \`{"events": […]}\` with at most 2000. Only event_type is required; insert_id makes a retry safe.
- \`POST /identify\` \`{"user_id": "u1", "device_id": "d1", "user_properties": {"email": "ann@example.com", "plan": "pro"}}\`: binds the device, past events included, and sets the profile. \`user_property_ops\`: $set, $set_once, $add, $unset.
- \`POST /query\` \`{"q": "signup | last 7d | count by day", "format": "llm"}\`: \`llm\` is a Markdown table, \`json\` has rows with \`value\`, \`csv\`. Also limit (100, at most 10000), offset, timezone (UTC).
- \`PUT /api/dashboard-sync/KEY\` \`{"source_yaml": "…"}\`: a dashboard of such queries; \`PUT /api/definitions\` likewise.
- \`POST /mcp\`: tools of the Model Context Protocol, for \`aat_\` tokens.
- \`GET /openapi.json\`: everything else.

## Queries

\`source | stage | stage\`. Without a range the last ${SOURCES.event.days} days are asked (${otherRanges()}); without an aggregate, \`count\`. Do not guess names: ask \`inspect *\`, then \`inspect EVENT\`.

Sources:
${lines(SOURCES)}

Stages:
${lines(STAGES)}

Fields:
${fields()}

Rules:
- A person is \`distinct_id\`: the user, else the user of the device, else the device.
- An event may have conditions, and several mean any of them: \`page_view[_path = "/"]\`, \`(signup, trial[plan = "pro"])\`; bare names in brackets are event_properties.
- Defined: \`activated | count\`, \`where cohort.power = true\`.
- Event names of letters, digits and _ . : / $ - need no quotes. Keys with other characters: \`event_properties."Button Name"\`.
- Where a field is missing, \`!=\`, \`!~\` and all that begins with \`not\` are true and all else is false.
- A number compares numbers and numeric text; \`"5"\` compares text; a time takes only times.
- \`where\` and ranges stand anywhere; sort, top, limit behind the aggregate. Groups by time have every bucket.

Examples:
${examples()}
`;
