// Answers one query: compile, look for a kept answer, acquire the project's share, execute, repeat
// when ClickHouse rejects a property guess, count rows when the page does not determine the total,
// format.
import { keysOfBag } from '../catalog/catalog.js';
import type { CatalogReader } from '../catalog/reader.js';
import { mentionsAny, warningsOfHidden, warningsOfUnseen } from '../catalog/unseen.js';
import type { DefinitionsReader } from '../definitions/reader.js';
import { warningsOfKeep } from '../keeping/keep.js';
import { PublicError } from '../platform/errors.js';
import { withTimeout } from '../platform/flow/with-timeout.js';
import type { ProjectId } from '../platform/ids.js';
import type { RepeatedWarning } from '../platform/repeated-warning.js';
import { annotationsIn } from '../query/annotations.js';
import type { CompiledQuery } from '../query/compile.js';
import { PEOPLE_MODE } from '../query/people-columns.js';
import { type AbsentKey, mayHaveAbsentKeys, warningsOfAbsent, withAbsentKeys } from './absent-keys.js';
import { type CompileDeps, compileOffLoop } from './compile-task.js';
import { warningsOfEarlier, withEventBefore } from './earlier-range.js';
import type { EngineBytes } from './engine-answer.js';
import { AnswerNotWanted } from './engine-failures.js';
import { type Engine, type EngineLookup, findEngine } from './engines.js';
import { beginExecution, type EngineLimits, type ExecuteDeps, type Execution } from './execute.js';
import type { CountedRun, Found, KeptAnswers } from './kept-answers.js';
import type { QueryMeasure, QueryMetrics } from './metrics.js';
import type { AdmitToPeople, Caller } from './people-access.js';
import type { ProjectOwners } from './project-owners.js';
import type { QueryRequest } from './schema.js';
import type { QueryShare } from './shares.js';

export interface AnswerDeps extends Omit<ExecuteDeps, 'clickhouse'>, CompileDeps, EngineLookup {
  readonly limits: AnswerLimits;
  readonly catalogs: Pick<CatalogReader, 'read' | 'readNow'>;
  readonly definitions: Pick<DefinitionsReader, 'read'>;
  readonly metrics: QueryMetrics;
  readonly ownerOf: ProjectOwners;
  readonly now: () => number;
  /** Called for every query that is sent to ClickHouse. */
  readonly noteQuery: (projectId: ProjectId) => void;
  /** Logs that a catalog could not be read; the query is answered. */
  readonly warnOfCatalog: RepeatedWarning;
  readonly admitToPeople: AdmitToPeople;
  /** Undefined keeps none. */
  readonly kept?: KeptAnswers | undefined;
}

export interface AnswerLimits extends EngineLimits {
  /** How long a query waits for a place, before `timeoutMs` begins. */
  readonly waitMs: number;
}

export interface Question {
  readonly projectId: ProjectId;
  readonly caller: Caller;
  readonly request: QueryRequest;
  readonly requestId: string;
  /** Aborted when the client has disconnected. */
  readonly signal: AbortSignal;
}

/** The engine's answer, and the description of its columns. */
export interface Answered {
  readonly compiled: CompiledQuery;
  readonly page: EngineBytes;
  /** Rows of the query, of which the page is a part. */
  readonly total: number;
  readonly rowsScanned: number;
  /** Events without the unit of the query. */
  readonly withoutUnit?: number;
  /** Of `compare`: whether the project has events from before its range. */
  readonly hasEventBefore?: boolean;
  /** Properties that the query names and its events do not have. */
  readonly absentKeys?: readonly AbsentKey[];
  readonly elapsedMs: number;
}

export async function answer<T>(
  deps: AnswerDeps,
  question: Question,
  format: (answered: Answered) => Promise<T>,
): Promise<T> {
  const measure = deps.metrics.begin();
  try {
    const formatted = await answerMeasured(deps, { ...question, measure }, format);
    measure.end();
    return formatted;
  } catch (error) {
    measure.end(error);
    throw error;
  }
}

interface MeasuredQuestion extends Question {
  readonly measure: QueryMeasure;
}

/** Keeps the share until the answer is formatted, which limits the number of answers in memory. */
async function answerMeasured<T>(
  deps: AnswerDeps,
  question: MeasuredQuestion,
  format: (answered: Answered) => Promise<T>,
): Promise<T> {
  const startedAt = performance.now();
  // Once it is in memory, the types of properties are guessed from it.
  deps.catalogs.read(question.projectId).catch(() => undefined);
  const prepared = deps.kept && (await prepare(deps, question, deps.kept));
  const engine = prepared?.engine ?? (await deps.engineOf(question.projectId));
  const { requestId, signal, measure } = question;
  const toFormat = ({ rowsRead, ...counted }: Counted & { compiled: CompiledQuery; rowsRead: number }) => {
    const elapsedMs = Math.round(performance.now() - startedAt);
    measure.scanned(rowsRead);
    if (signal.aborted) throw new AnswerNotWanted();
    return format({ ...counted, elapsedMs });
  };
  // Without a place: an answer from memory is no work for the engine.
  if (prepared?.found.kind === 'answer') {
    const { compiled, found } = prepared;
    return toFormat(await admitted(deps, question, { compiled, counted: found.counted }));
  }
  const share = await waitForShare({ ...deps, shares: engine.shares }, question);
  const { clickhouse } = engine;
  const deadlineMs = performance.now() + deps.limits.timeoutMs;
  const execution = beginExecution({ ...deps, clickhouse }, { requestId, signal, share, deadlineMs });
  try {
    const counted = await compileAndRun(deps, question, { execution, engine, prepared });
    return await toFormat({ ...counted, rowsRead: counted.rowsScanned });
  } finally {
    // A stopped query keeps its place until ClickHouse has ended it. The client does not wait for
    // that.
    void execution.stopped().then(() => share.leave());
  }
}

async function waitForShare(
  deps: Pick<AnswerDeps, 'limits' | 'metrics' | 'ownerOf'> & Pick<Engine, 'shares'>,
  { projectId, signal }: Question,
): Promise<QueryShare> {
  const { waitMs } = deps.limits;
  const ownerId = await deps.ownerOf(projectId);
  const deadline = AbortSignal.timeout(waitMs);
  const endWait = deps.metrics.beginWait(deps.shares.isIdle(projectId));
  try {
    const share = await deps.shares.enter({ projectId, ownerId }, AbortSignal.any([signal, deadline]));
    endWait();
    return share;
  } catch (cause) {
    if (signal.aborted) throw new AnswerNotWanted();
    if (deadline.aborted) endWait();
    deps.metrics.refused.inc({ reason: deadline.aborted ? 'waited' : 'queue_full' });
    throw deadline.aborted ? waitedTooLong(waitMs, cause) : cause;
  }
}

const waitedTooLong = (waitMs: number, cause: unknown): PublicError =>
  new PublicError(
    'rate_limited',
    `the query waited ${waitMs / 1000} s for other queries to end and was not run; ` +
      'try again in a minute, and send fewer at a time',
    { cause },
  );

/** A compiled query, where its project lives, and what is kept of its answer. */
interface Prepared {
  readonly engine: Engine;
  readonly nowMs: number;
  readonly compiled: CompiledQuery;
  readonly found: Found;
}

async function prepare(
  deps: AnswerDeps,
  { projectId, request, measure }: MeasuredQuestion,
  kept: KeptAnswers,
): Promise<Prepared> {
  const { engine, versions } = await findEngine(deps, projectId);
  const nowMs = deps.now();
  const compiled = await compileRequest(deps, { projectId, request, nowMs });
  measure.compiled(compiled);
  const found = await kept.find({ engine, projectId, compiled, offset: request.offset, versions });
  return { engine, nowMs, compiled, found };
}

/** Records the query, before it is answered. */
async function admit(deps: AnswerDeps, { projectId, caller, request }: Question, { mode }: CompiledQuery) {
  if (mode === PEOPLE_MODE) await deps.admitToPeople({ projectId, caller, request });
  deps.noteQuery(projectId);
}

/** A kept answer, as one that was computed now. */
async function admitted(
  deps: AnswerDeps,
  question: Question,
  { compiled, counted }: { compiled: CompiledQuery; counted: Counted },
) {
  await admit(deps, question, compiled);
  const unseen = await warnOfUnseen(deps, question.projectId, compiled);
  return {
    ...counted,
    compiled: withWarnings(compiled, [...unseen, ...warningsOfCounted(counted, unseen)]),
    rowsRead: 0,
  };
}

const warningsOfCounted = (counted: Counted, unseen: readonly string[]): readonly string[] => [
  ...warningsOfEarlier(counted),
  ...warningsOfAbsent(counted, unseen),
];

const withWarnings = (compiled: CompiledQuery, warnings: readonly string[]): CompiledQuery => ({
  ...compiled,
  warnings: [...compiled.warnings, ...warnings],
});

/** A query that has waited longer is compiled again, so that its range ends when it runs. */
const SAME_MOMENT_MS = 100;

interface Run {
  readonly execution: Execution;
  readonly engine: Engine;
  readonly prepared: Prepared | undefined;
}

async function compileAndRun(
  deps: AnswerDeps,
  question: MeasuredQuestion,
  { execution, engine, prepared }: Run,
): Promise<Omit<Answered, 'elapsedMs'>> {
  const { projectId, request, measure } = question;
  const { kept } = deps;
  const nowMs = deps.now();
  const isNow = prepared !== undefined && nowMs - prepared.nowMs <= SAME_MOMENT_MS;
  let compiled = isNow ? prepared.compiled : await compileRequest(deps, { projectId, request, nowMs });
  measure.compiled(compiled);
  let found = isNow ? prepared.found : undefined;
  const compileAgain = (asksForOwnKeys = false) =>
    compileRequest(deps, { projectId, request, nowMs: isNow ? prepared.nowMs : nowMs, asksForOwnKeys });
  const findOwnKeys = async () => (await compileAgain(true)).ownKeys ?? [];
  await admit(deps, question, compiled);
  for (;;) {
    found ??= await kept?.find({ engine, projectId, compiled, offset: request.offset });
    try {
      const run = () => runAll(compiled, request, { execution, findOwnKeys });
      const counted = await runOrFind(kept, found, { run, signal: question.signal });
      // After the events were counted: their names were stored before them.
      const unseen = await warnOfUnseen(deps, projectId, compiled);
      return { ...counted, compiled: withWarnings(compiled, [...unseen, ...warningsOfCounted(counted, unseen)]) };
    } catch (error) {
      if (!deps.guesses.learn(projectId, error)) throw error;
      compiled = await compileAgain();
      found = undefined;
    }
  }
}

function runOrFind(kept: KeptAnswers | undefined, found: Found | undefined, counting: CountedRun): Promise<Counted> {
  if (found?.kind === 'answer') return Promise.resolve(found.counted);
  return kept !== undefined && found?.kind === 'none' ? kept.run(found, counting) : counting.run();
}

const CATALOG_TIMEOUT_MS = 1_000;

/** Never rejects: a query is answered without these warnings when PostgreSQL does not answer. */
export async function warnOfUnseen(
  { catalogs, warnOfCatalog }: Pick<AnswerDeps, 'catalogs' | 'warnOfCatalog'>,
  projectId: ProjectId,
  { mentions, definitions }: Pick<CompiledQuery, 'mentions' | 'definitions'>,
): Promise<readonly string[]> {
  if (!mentionsAny(mentions) && definitions.length === 0) return [];
  try {
    const catalog = await withTimeout(CATALOG_TIMEOUT_MS, catalogs.read(projectId));
    const hidden = warningsOfHidden(definitions, catalog);
    const unseen = warningsOfUnseen(mentions, catalog);
    if (unseen.length === 0) return hidden;
    // The first event with this name may have arrived since the catalog was read.
    const current = await withTimeout(CATALOG_TIMEOUT_MS, catalogs.readNow(projectId));
    return [...hidden, ...(current === catalog ? unseen : warningsOfUnseen(mentions, current))];
  } catch (err) {
    warnOfCatalog(err);
    return [];
  }
}

interface Compiling {
  readonly projectId: ProjectId;
  readonly request: QueryRequest;
  readonly nowMs: number;
  readonly asksForOwnKeys?: boolean;
}

/** Throws bad_request with every problem of the text. */
export async function compileRequest(
  deps: AnswerDeps,
  { projectId, request, nowMs, asksForOwnKeys = false }: Compiling,
): Promise<CompiledQuery> {
  const { timezone, limit, offset } = request;
  const { definitions, annotations = [], keep, warning } = await deps.definitions.read(projectId);
  const context = { projectId, nowMs, timezone, limit, offset, definitions, asksForOwnKeys };
  const answered = await compileOffLoop(deps, request.q, context);
  if ('compiled' in answered) {
    const covered = annotationsIn(annotations, answered.compiled.range, timezone);
    const compiled = covered.length === 0 ? answered.compiled : { ...answered.compiled, annotations: covered };
    const ofProject = [...(warning === undefined ? [] : [warning]), ...warningsOfKeep(keep, compiled, nowMs)];
    const warnings = [...request.warnings, ...ofProject];
    return warnings.length === 0 ? compiled : { ...compiled, warnings: [...compiled.warnings, ...warnings] };
  }
  deps.metrics.compileErrors.inc();
  // Once more with the names of the project, which the hints of unknown ones can then name.
  const propertyKeys = await propertyKeysOf(deps, projectId);
  const named =
    propertyKeys.length === 0 ? answered : await compileOffLoop(deps, request.q, { ...context, propertyKeys });
  const { message, details } = 'compiled' in named ? answered : named;
  throw new PublicError('bad_request', message, { details });
}

/** Empty when PostgreSQL does not answer. */
async function propertyKeysOf(
  { catalogs, warnOfCatalog }: AnswerDeps,
  projectId: ProjectId,
): Promise<readonly string[]> {
  try {
    return keysOfBag(await withTimeout(CATALOG_TIMEOUT_MS, catalogs.read(projectId)), 'event_properties');
  } catch (err) {
    warnOfCatalog(err);
    return [];
  }
}

export type Counted = Pick<
  Answered,
  'page' | 'total' | 'rowsScanned' | 'withoutUnit' | 'hasEventBefore' | 'absentKeys'
>;

interface Running {
  readonly execution: Execution;
  readonly findOwnKeys: () => Promise<NonNullable<CompiledQuery['ownKeys']>>;
}

async function runAll(
  compiled: CompiledQuery,
  request: QueryRequest,
  { execution, findOwnKeys }: Running,
): Promise<Counted> {
  const counted = await withEventsLeftOut(await runCounted(compiled, request, execution), compiled, execution);
  const all = await withEventBefore(counted, compiled, execution);
  return mayHaveAbsentKeys(all, compiled) ? withAbsentKeys(all, await findOwnKeys(), execution) : all;
}

async function runCounted(compiled: CompiledQuery, request: QueryRequest, execution: Execution): Promise<Counted> {
  const page = await execution.runForBytes(compiled.statement);
  const { rowCount, rowsScanned } = page;
  const cap = (total: number): number => Math.min(total, compiled.rowsMax ?? total);
  if (compiled.countStatement === undefined) return { page, total: cap(page.rowsBeforeLimit), rowsScanned };

  const end = request.offset + rowCount;
  const isWhole = compiled.rowsKept > 0 && rowCount < compiled.rowsKept && (rowCount > 0 || request.offset === 0);
  if (isWhole || end === compiled.rowsMax) return { page, total: end, rowsScanned };
  const count = await execution.run(compiled.countStatement);
  return {
    page,
    total: cap(Number(count.rows[0]?.[0] ?? 0)),
    rowsScanned: rowsScanned + count.rowsScanned,
  };
}

/** Adds how many events the query leaves out, because they do not have its unit. */
async function withEventsLeftOut(counted: Counted, compiled: CompiledQuery, execution: Execution): Promise<Counted> {
  if (compiled.withoutUnit === undefined) return counted;
  const { rows, rowsScanned } = await execution.run(compiled.withoutUnit.statement);
  return { ...counted, withoutUnit: Number(rows[0]?.[0] ?? 0), rowsScanned: counted.rowsScanned + rowsScanned };
}
