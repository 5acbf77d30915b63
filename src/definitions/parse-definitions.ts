// Parses and checks the text of a document of definitions: YAML, structure, then what each
// definition means where it is used, and what the drop rules mean.
import { createHash } from 'node:crypto';
import { type Budget, newBudget } from '../dashboards/check-queries.js';
import { checkStructure } from '../dashboards/check-structure.js';
import type { Path } from '../dashboards/path.js';
import { type DashboardProblem, toBadRequest } from '../dashboards/problems.js';
import { readYaml, type YamlSource } from '../dashboards/yaml-source.js';
import type { IngestRules } from '../ingest/drop/rules.js';
import type { Keep } from '../keeping/keep.js';
import { analyze } from '../query/analyze/analyze.js';
import { DEFINITION_KINDS, type Definition, type Definitions } from '../query/definitions/definitions.js';
import { type QueryProblem, quote } from '../query/errors.js';
import { suggestFixes } from '../query/fixes/suggest.js';
import { STAGE_NAMES } from '../query/language.js';
import { NearestNames } from '../query/nearest-names.js';
import { parse } from '../query/parse/parse.js';
import { SOURCE_NAMES } from '../query/sources/index.js';
import { type AlertsContext, checkAlertsOf } from './check-alerts.js';
import { checkForm } from './check-form.js';
import { type BotChoice, type DefinitionsDocument, documentSchema, SECTIONS } from './config-schema.js';
import { readDropRules, type ShownRule } from './drop-rules.js';

/** What a project has defined. */
export interface DefinitionsContent {
  readonly definitions: Definitions;
  /** Absent in versions from before November 2026. */
  readonly drop?: readonly ShownRule[];
  readonly bots?: BotChoice;
  readonly alerts?: DefinitionsDocument['alerts'];
  readonly reports?: DefinitionsDocument['reports'];
  readonly annotations?: DefinitionsDocument['annotations'];
  readonly keep?: Keep;
}

export interface ParsedDefinitions {
  readonly content: DefinitionsContent;
  /** What decides about each event; undefined when all are let in. */
  readonly rules: Omit<IngestRules, 'version'> | undefined;
  /** Hash of the content: comments and whitespace do not change it. */
  readonly checksum: string;
  /** Remarks about what is valid, and may be a mistake. */
  readonly warnings: readonly string[];
}

export interface DefinitionsContext extends Omit<AlertsContext, 'definitions'> {
  /** The event types that the project has sent. */
  readonly eventTypes: readonly string[];
  /** Whether these are all. */
  readonly hasAllEvents: boolean;
}

/** In all sections together: each is compiled. */
const DEFINITIONS_MAX = 200;
/** Pairs of characters compared for the warnings about events: about half a second. */
const PAIRS_MAX = 100_000_000;

/** Throws one bad_request with all problems. */
export function parseDefinitions(text: string, context: DefinitionsContext): ParsedDefinitions {
  const source = readYaml(text);
  if (source.value === undefined) throw toBadRequest(source.problems);
  const structure = [...source.problems, ...checkStructure(source, documentSchema)];
  if (structure.length > 0) throw toBadRequest(structure);
  const document = documentSchema.parse(source.value);
  const definitions = toDefinitions(source, document);
  const beyond = definitions[DEFINITIONS_MAX];
  if (beyond) {
    const message = `the document has ${definitions.length} definitions; the limit is ${DEFINITIONS_MAX}`;
    throw toBadRequest([source.problemAtKey(pathOf(beyond), { message, hint: 'remove some' })]);
  }
  const drop = readDropRules(source, document.drop ?? [], context);
  const budget = newBudget();
  const checked = definitions
    .map((definition) => checkDefinition(definition, definitions, context))
    .map((check) => withFixes(check, { definitions, context, budget }));
  const nearest = new NearestNames(PAIRS_MAX);
  const problems = [
    ...definitions.flatMap((definition) => checkName(source, definition, context)),
    ...checked.flatMap((check) => check.problems.map((problem) => toPlaced(source, check.definition, problem))),
    ...drop.problems,
    ...checkKeep(source, document),
  ];
  if (problems.length > 0) throw toBadRequest(problems);
  const ofAlerts = checkAlertsOf(source, document, { ...context, definitions });
  if (ofAlerts.length > 0) throw toBadRequest(ofAlerts);
  const { alerts, reports, annotations, bots } = document;
  const keep = toKeep(document.keep);
  const hasRules = drop.rules.length > 0 || bots === 'drop';
  return {
    content: {
      ...{ definitions, drop: drop.shown, ...(bots !== undefined && { bots }), ...(keep !== undefined && { keep }) },
      ...{ ...(alerts && { alerts }), ...(reports && { reports }), ...(annotations && { annotations }) },
    },
    rules: hasRules ? { dropsBots: bots === 'drop', rules: drop.rules } : undefined,
    checksum: createHash('sha256').update(JSON.stringify(document)).digest('hex'),
    warnings: [...checked.flatMap((check) => warningsOf(check, context, nearest)), ...drop.warnings],
  };
}

const toDefinitions = (source: YamlSource, document: DefinitionsDocument): Definition[] =>
  DEFINITION_KINDS.flatMap((kind) =>
    Object.entries(document[SECTIONS[kind]] ?? {}).map(([name, of]): Definition => {
      const { line } = source.problemAtKey([SECTIONS[kind], name], { message: '', hint: '' });
      return { kind, name, line, ...of };
    }),
  );

/** Each is part of one statement. */
const KEEP_MAX = 100;

function checkKeep(source: YamlSource, { keep = {} }: DefinitionsDocument): DashboardProblem[] {
  const beyond = Object.keys(keep)[KEEP_MAX];
  if (beyond === undefined) return [];
  const message = `keep names ${Object.keys(keep).length} events; the limit is ${KEEP_MAX}`;
  return [source.problemAtKey(['keep', beyond], { message, hint: 'use default for most of them' })];
}

/** Undefined when everything is kept. */
function toKeep(written: DefinitionsDocument['keep']): Keep | undefined {
  const { default: usual, ...named } = written ?? {};
  const events = Object.entries(named).map(([event, days]) => ({ event, days: Number.parseInt(days, 10) }));
  if (usual === undefined && events.length === 0) return undefined;
  return { events, ...(usual !== undefined && { default: Number.parseInt(usual, 10) }) };
}

const pathOf = ({ kind, name }: Definition): Path => [SECTIONS[kind], name];

/** An event stands where words of the language stand, and beside the events of the project. */
function checkName(source: YamlSource, definition: Definition, context: DefinitionsContext): DashboardProblem[] {
  const { kind, name } = definition;
  if (kind !== 'event') return [];
  if (SOURCE_NAMES.includes(name) || STAGE_NAMES.includes(name) || name === 'any') {
    const remark = { message: `${quote(name)} is a word of the query language`, hint: 'choose another name' };
    return [source.problemAtKey(pathOf(definition), remark)];
  }
  if (!context.eventTypes.includes(name)) return [];
  const message = `${quote(name)} is an event that this project sends`;
  return [source.problemAtKey(pathOf(definition), { message, hint: 'choose another name' })];
}

/** The shortest query that uses the definition. */
const USES: Readonly<Record<Definition['kind'], (name: string) => string>> = {
  event: (name) => `${name} | count`,
  cohort: (name) => `* | where cohort.${name} = true | count`,
  metric: (name) => `metric ${name}`,
};

interface Checked {
  readonly definition: Definition;
  readonly problems: readonly QueryProblem[];
  readonly warnings: readonly string[];
  /** Event types that it names. */
  readonly events: readonly string[];
}

function checkDefinition(definition: Definition, definitions: Definitions, context: DefinitionsContext): Checked {
  const inText = checkForm(definition).map(
    ({ span, ...problem }): QueryProblem => ({ ...problem, span: { ...span, within: { definition, ...span } } }),
  );
  if (inText.length > 0) return { definition, problems: inText, warnings: [], events: [] };
  const { nowMs, timezone, propertyKeys } = context;
  const isWord = definition.kind === 'event' && SOURCE_NAMES.includes(definition.name);
  if (isWord) return { definition, problems: [], warnings: [], events: [] };
  const { query } = parse(USES[definition.kind](definition.name));
  const { query: resolved, problems } = analyze(query, {
    nowMs,
    timezone,
    definitions,
    ...(propertyKeys && { propertyKeys }),
  });
  const events = [...(resolved?.mentions.events ?? [])];
  return { definition, problems, warnings: resolved?.warnings ?? [], events };
}

interface Fixing {
  readonly definitions: Definitions;
  readonly context: DefinitionsContext;
  readonly budget: Budget;
}

/** With fixes of the problems that are in the text of the definition itself. */
function withFixes(checked: Checked, { definitions, context, budget }: Fixing): Checked {
  const { definition, problems } = checked;
  const { query: text } = definition;
  if (problems.length === 0 || text.length > budget.charactersToFix) return checked;
  budget.charactersToFix -= text.length;
  const isOwn = ({ span }: QueryProblem): boolean => span.within?.definition === definition;
  const findProblems = (query: string): QueryProblem[] => {
    const changed = { ...definition, query };
    const all = definitions.map((each) => (each === definition ? changed : each));
    return checkDefinition(changed, all, context).problems.map(toPlaceInText);
  };
  const fixed = suggestFixes(text, problems.filter(isOwn).map(toPlaceInText), findProblems, context);
  return { ...checked, problems: [...fixed, ...problems.filter((problem) => !isOwn(problem))] };
}

/** With a span of the text of its definition; one of the use as such stays. */
const toPlaceInText = (problem: QueryProblem): QueryProblem => {
  const { within } = problem.span;
  return within === undefined ? problem : { ...problem, span: { from: within.from, to: within.to, within } };
};

/** At its place in the text of the definition; a problem of the use as such is at its name. */
function toPlaced(source: YamlSource, used: Definition, { span, message, hint, fix }: QueryProblem): DashboardProblem {
  const { within } = span;
  if (within === undefined) return source.problemAtKey(pathOf(used), { message, hint });
  const path = [...pathOf(within.definition), 'query'];
  const problem = source.problemInText(path, within.from, { message, hint });
  const replacement = fix && source.replacementInText(path, fix.span, fix.text);
  return replacement === undefined ? problem : { ...problem, fix: replacement };
}

function warningsOf(
  { definition, warnings, events }: Checked,
  context: DefinitionsContext,
  names: NearestNames,
): string[] {
  const { kind, name, line } = definition;
  const unseen = context.hasAllEvents ? events.filter((type) => !context.eventTypes.includes(type)) : [];
  const remarks = unseen.map((type) => {
    const nearest = names.find('event', type, () => context.eventTypes);
    return `no event ${quote(type)} in this project${nearest === undefined ? '' : `; nearest: ${quote(nearest)}`}`;
  });
  return [...warnings, ...remarks].map((warning) => `${kind} ${name} (line ${line}): ${warning}`);
}
