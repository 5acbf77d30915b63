// Text of /llms.txt: the service and its query language for a language model, in under 3,000 tokens. Names come from the
// tables of the compiler; a source or stage without a line here is a type error.

import {
  DISTINCT_ID,
  EVENT_FIELD_NAMES,
  type FieldCategory,
  findEventField,
  GRANULARITIES,
  PROPERTY_BAGS,
} from '../query/fields.js';
import { AGGREGATE_NAMES, type SourceKind, type StageKind } from '../query/parse/syntax.js';
import { PROFILE_KEYS } from '../query/profile-fields.js';
import { SESSION_KEYS } from '../query/session-fields.js';
import { EXAMPLES } from './examples.js';

const SOURCES = {
  event: ['signup', 'events of a type; `"any name"` in quotes'],
  all: ['*', 'all events; may be left out: `| last 7d | count`'],
  funnel: [
    'funnel a -> b -> c exclude x',
    'people who do a, then b, then c within `window` (1h) of a. Columns step, event, users, rate, step_rate, median_seconds',
  ],
  retention: [
    'retention a returning b by week',
    'cohorts by first a, and who does b (any event when left out) in later periods: day, week, month',
  ],
  paths: [
    'paths from a',
    'or `paths to a`: one sequence of events per person, within `window` (1h) and `depth` (5); `by FIELD` relabels',
  ],
  sessions: ['sessions', 'sessions by day with durations and bounce rate, or any aggregate by `session.KEY`'],
  lifecycle: ['lifecycle a by week', 'people New, Returning, Resurrected, Dormant in each period'],
  stickiness: ['stickiness a', 'people by number of active days'],
  user: ['user "id or e-mail"', 'events of one person'],
  users: ['users', 'profiles; fields are bare: `plan`, `email`'],
  formula: ['formula count(a) / unique(b)', 'also sum(a, FIELD), avg(a, FIELD), + - * /, numbers; `by day`'],
  fields: ['fields', 'every field with type and coverage'],
  inspect: ['inspect *', 'event types; `inspect a`: properties of one'],
  choice: ['choice KEY | results a', 'result of an experiment: conversion to a by variant, with a verdict'],
} as const satisfies Record<SourceKind, readonly [form: string, meaning: string]>;

const STAGES = {
  where: [
    'where CONDITION',
    '`= != < <= > >=`, `contains`, `starts with`, `ends with`, `~ "regex"`, `in ("a", "b")`, `exists`; negated `!~`, else with `not` before the word; joined by `and`, `or`, parentheses. Text in quotes',
  ],
  last: ['last 7d', 'units m, h, d, w, mo, y; rolling'],
  from_to: ['from 2026-01-01 to 2026-02-01', 'the end is excluded'],
  named_range: ['today', 'or `yesterday`'],
  this: ['this month', 'or `this week`, `this quarter`, `this year`'],
  aggregate: [
    'count by FIELD, day',
    `${AGGREGATE_NAMES.join(', ')}; all but count take a field: \`p95 FIELD by day\`. \`unique\` alone counts people. \`latest FIELD per FIELD\`: newest value of each`,
  ],
  by: ['by FIELD', `fields and ${GRANULARITIES.join(', ')}; behind an aggregate, or a stage of its own`],
  list: ['list FIELD, FIELD', 'rows instead of an aggregate'],
  sort: ['sort COLUMN desc', 'by a column of the answer'],
  top: ['top 10', 'by the metric, descending'],
  limit: ['limit 100', 'at most 10,000'],
  window: ['window 7d', 'of funnel, paths, choice'],
  depth: ['depth 5', 'of paths'],
  exclude: ['exclude x', 'of funnel'],
  returning: ['returning b', 'of retention'],
  results: ['results a', 'of choice'],
  unit: ['unit user_id', 'of choice'],
} as const satisfies Record<Exclude<StageKind, 'broken'>, readonly [form: string, meaning: string]>;

const CATEGORIES: readonly FieldCategory[] = ['core', 'page', 'referrer', 'device', 'geo', 'other'];

const lines = (table: Readonly<Record<string, readonly [form: string, meaning: string]>>): string =>
  Object.values(table)
    .map(([form, meaning]) => `- \`${form}\`: ${meaning}`)
    .join('\n');

const fieldsOf = (category: FieldCategory): string =>
  EVENT_FIELD_NAMES.filter(
    (name) => (name === DISTINCT_ID ? 'core' : findEventField(name)?.category) === category,
  ).join(', ');

const fields = (): string =>
  [
    ...CATEGORIES.map((category) => `- ${category}: ${fieldsOf(category)}`),
    `- properties: ${Object.keys(PROPERTY_BAGS)
      .map((bag) => `${bag}.KEY`)
      .join(', ')}`,
    `- profile of the person: user.KEY with ${PROFILE_KEYS.join(', ')}, or any property`,
    `- session of the event: session.KEY; newest session of the person: user_last_session.KEY; with ${SESSION_KEYS.join(', ')}`,
  ].join('\n');

const examples = (): string => EXAMPLES.map(([question, query]) => `- ${question}\n  \`${query}\``).join('\n');

export const toLlmsText = (): string => `# Event Analytics Service

> Product analytics over HTTP: send events, say who is who, ask questions in a pipe language.

Keys go in the header \`X-API-Key\`: \`pk_\` (public) may track and identify; \`sk_\` (secret) may do everything; \`aat_\` tokens have scopes. Bodies are JSON. Errors are \`{"error": "…"}\`; a wrong query is 400 with every mistake in \`details\`, each with line, column and a hint: repair it and ask again. 429: wait 60 s.

- \`POST /track\` \`{"event_type": "signup", "user_id": "u1", "device_id": "d1", "session_id": "s1", "time": "2026-01-31T10:00:00Z", "event_properties": {"plan": "pro"}, "insert_id": "x1"}\`, or \`{"events": […]}\` with at most 2000. Only event_type is required; insert_id makes a retry safe. Answers \`{"accepted": 1}\`.
- \`POST /identify\` \`{"user_id": "u1", "device_id": "d1", "user_properties": {"email": "ann@example.com", "plan": "pro"}}\`: binds the device, past events included, and sets the profile. \`user_property_ops\`: $set, $set_once, $add, $unset.
- \`POST /query\` \`{"q": "signup | last 7d | count by day", "format": "llm"}\`: \`llm\` is a Markdown table, \`json\` has rows with \`value\`, \`csv\`. Also limit (100, at most 10000), offset, timezone (UTC).
- \`PUT /api/dashboard-sync/KEY\` \`{"source_yaml": "…"}\`: a dashboard of such queries.
- \`GET /openapi.json\`: everything else.

## Queries

\`source | stage | stage\`. Without a range the last 7 days are asked (inspect, fields, user, users, lifecycle, stickiness, choice 30; retention 12 weeks); without an aggregate, \`count\`. Do not guess names: ask \`inspect *\`, then \`inspect EVENT\`.

Sources:
${lines(SOURCES)}

Stages:
${lines(STAGES)}

Fields:
${fields()}

Rules:
- A person is \`distinct_id\`: the user, else the user of the device, else the device.
- Event names of letters, digits and _ . : / $ - need no quotes. Keys with other characters: \`event_properties."Button Name"\`.
- Where a field is missing, \`!=\`, \`!~\` and all that begins with \`not\` are true and all else is false.
- A number compares numbers and numeric text; \`"5"\` compares text. No type of a property fails; a time takes only times.
- \`where\` and ranges stand anywhere; sort, top, limit behind the aggregate. Groups by time have every bucket.

Examples:
${examples()}
`;
