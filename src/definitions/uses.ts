// Where definitions are named: by cards, variables and alerts of dashboards, and by alerts and
// definitions of their own document. Queries are parsed with the defaults of their variables, and
// with each choice whose fragment has a name of a definition: parsing with every choice would take
// seconds.
import type { AlertConfig } from '../alerts/config-schema.js';
import { valuesToTry } from '../dashboards/check-queries.js';
import type { Variable, Variables } from '../dashboards/config-schema.js';
import { fillTemplate, variablesOf } from '../dashboards/fill-template.js';
import type { DashboardText, StoredDashboard } from '../dashboards/store.js';
import type { ThreadTask } from '../platform/threads/thread-task.js';
import { type Definition, type Definitions, writtenDefinition } from '../query/definitions/definitions.js';
import { expandDefinitions } from '../query/definitions/expand.js';
import { parse } from '../query/parse/parse.js';
import type { DefinitionUse } from './answers.js';

/** An alert of the definitions' document. */
type OwnAlert = Pick<AlertConfig, 'id' | 'query'>;

export interface UsesRequest {
  readonly definitions: Definitions;
  readonly alerts?: readonly OwnAlert[] | undefined;
  readonly dashboards: readonly StoredDashboard[];
}

/** By definition in the order of the document; definitions that use it are the last. */
export function findUses({ definitions, alerts = [], dashboards }: UsesRequest): DefinitionUse[] {
  const found = [
    ...dashboards.flatMap((dashboard) => usesIn(dashboard, definitions)),
    ...alerts.flatMap(({ id, query }): Found[] => {
      const place = { in: 'alert', dashboard: null, id, title: id } as const;
      return namedBy(query, definitions).map((definition) => ({ definition, place }));
    }),
    ...definitions.flatMap((definition): Found[] => {
      const named = namedBy(definition.query, definitions).filter((each) => each !== definition);
      const id = writtenDefinition(definition);
      return named.map((each) => ({ definition: each, place: { in: 'definition', dashboard: null, id, title: id } }));
    }),
  ];
  return definitions.flatMap((definition) =>
    found
      .filter((each) => each.definition === definition)
      .map(({ place }) => ({ kind: definition.kind, name: definition.name, ...place })),
  );
}

interface Found {
  readonly definition: Definition;
  readonly place: Omit<DefinitionUse, 'kind' | 'name'>;
}

function usesIn({ config, ...dashboard }: StoredDashboard, definitions: Definitions): Found[] {
  const variables = variablesOf(config.variables);
  const at = (place: Omit<Found['place'], 'dashboard'>, queries: readonly string[]): Found[] => {
    const named = new Set(queries.flatMap((query) => namedBy(query, definitions)));
    return [...named].map((definition) => ({ definition, place: { ...place, dashboard } }));
  };
  const filled = (template: string): string[] =>
    valuesToTry(template, withNames(variables, definitions)).map(
      (values) => fillTemplate(template, [], { variables, values }).text,
    );
  return [
    ...config.sections.flatMap(({ cards }) =>
      cards.flatMap(({ id, title, query, queries = [] }) => {
        const templates = [...(query === undefined ? [] : [query]), ...queries.map((each) => each.query)];
        return at({ in: 'card', id, title }, templates.flatMap(filled));
      }),
    ),
    ...[...variables].flatMap(([name, variable]) => {
      const query = 'query' in variable ? variable.query : undefined;
      return query === undefined ? [] : at({ in: 'variable', id: name, title: name }, [query]);
    }),
    ...(config.alerts ?? []).flatMap(({ id, query }) => at({ in: 'alert', id, title: id }, [query])),
  ];
}

/** Without the options whose fragment has no name; the first stays as the default. */
function withNames(variables: Variables, definitions: Definitions): Variables {
  const entries = [...variables].map(([name, variable]): [string, Variable] => {
    if (variable.type !== 'select' || variable.options === undefined) return [name, variable];
    const options = variable.options.filter(
      ({ value, fragment = '' }, index) => index === 0 || value === variable.default || hasName(fragment, definitions),
    );
    return [name, { ...variable, options }];
  });
  return new Map(entries);
}

const hasName = (text: string, definitions: Definitions): boolean =>
  definitions.some(({ name }) => text.includes(name));

/** The definitions that the text of a query names. */
const namedBy = (query: string, definitions: Definitions): Definitions =>
  // Most queries contain no name of a definition, and parsing takes longer than looking for one.
  hasName(query, definitions) ? expandDefinitions(parse(query).query, definitions).named : [];

/** As stored: hundreds of documents are parsed, and their uses written, in a thread. */
export interface UsesTaskRequest extends Omit<UsesRequest, 'dashboards'> {
  readonly dashboards: readonly DashboardText[];
}

const inTexts = ({ dashboards, ...request }: UsesTaskRequest): DefinitionUse[] => {
  const parsed = dashboards.map((dashboard) => ({ ...dashboard, config: JSON.parse(dashboard.config) }));
  return findUses({ ...request, dashboards: parsed });
};

const tooCostly = 'the queries of the dashboards take more than {limit} to search';

/** The uses as JSON. */
export const usesTask: ThreadTask<UsesTaskRequest, Uint8Array<ArrayBuffer>> = {
  module: import.meta.url,
  name: 'usesTask',
  run: (request) => new TextEncoder().encode(JSON.stringify(inTexts(request))),
  tooCostly,
  buffersOfOutput: ({ buffer }) => [buffer],
};

/** Sentences about the uses of the definitions that are `removed`. */
export const removedTask: ThreadTask<UsesTaskRequest & { readonly removed: Definitions }, string[]> = {
  module: import.meta.url,
  name: 'removedTask',
  run: ({ removed, ...request }) => {
    const isRemoved = (use: DefinitionUse) => removed.some(({ kind, name }) => kind === use.kind && name === use.name);
    const users = new Set(removed.map(writtenDefinition));
    const isByRemoved = (use: DefinitionUse) => use.in === 'definition' && users.has(use.id);
    return warnOfRemoved(inTexts(request).filter((use) => isRemoved(use) && !isByRemoved(use)));
  },
  tooCostly,
};

const LISTED_MAX = 20;

/** Sentences about uses of definitions that a change removes. */
export function warnOfRemoved(uses: readonly DefinitionUse[]): string[] {
  const sentences = uses.map(({ kind, name, in: place, dashboard, id, title }) => {
    const user =
      place === 'definition'
        ? `the definition ${id}`
        : `the ${place} "${title}" of ${dashboard === null ? 'the definitions' : `the dashboard "${dashboard.title}"`}`;
    return `the ${kind} ${name} is removed, but ${user} uses it`;
  });
  const more = sentences.length - LISTED_MAX;
  return more > 0 ? [...sentences.slice(0, LISTED_MAX), `${more} more uses of removed definitions`] : sentences;
}
