// The sources of the query language by kind: each is a folder. sources/plans.ts has their plans,
// which the browser does without.
import { completeNames, type NameSpec } from '../language.js';
import { choice } from './choice/index.js';
import { all, event } from './events/index.js';
import { fields } from './fields/index.js';
import { formula } from './formula/index.js';
import { funnel } from './funnel/index.js';
import { inspect } from './inspect/index.js';
import { lifecycle } from './lifecycle/index.js';
import { metric } from './metric/index.js';
import { paths } from './paths/index.js';
import { retention } from './retention/index.js';
import { sessions } from './sessions/index.js';
import { stickiness } from './stickiness/index.js';
import { user } from './user/index.js';
import { users } from './users/index.js';

const ROWS = {
  event,
  all,
  funnel,
  retention,
  paths,
  sessions,
  lifecycle,
  stickiness,
  user,
  users,
  formula,
  fields,
  inspect,
  choice,
  metric,
};

export const SOURCES = Object.fromEntries(
  Object.entries(ROWS).map(([kind, row]) => [kind, completeNames(kind, row, 'Source')]),
) as { readonly [K in keyof typeof ROWS]: (typeof ROWS)[K] & NameSpec };

export const SOURCE_NAMES: readonly string[] = Object.values(SOURCES).flatMap(({ words }) => words);

/** Values of `mode` in answers. */
export const MODES: readonly string[] = [...new Set(Object.values(SOURCES).flatMap(({ modes }) => modes))];

/** What the analyzers of the sources return. */
export type ResolvedSource = NonNullable<ReturnType<(typeof ROWS)[keyof typeof ROWS]['analyze']>>;
