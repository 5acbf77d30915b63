// One question, from its text to its answer: wait for the project's share, compile, execute, again with better guesses where
// the engine refused some, count where a page does not tell, shape.
import { PublicError } from '../platform/errors.js';
import type { ProjectId } from '../platform/ids.js';
import type { CompiledQuery } from '../query/compile.js';
import { type CompileDeps, compileOffLoop } from './compile-task.js';
import { AnswerNotWanted } from './engine-failures.js';
import { beginExecution, type EngineResult, type ExecuteDeps, type Execution } from './execute.js';
import type { QueryMetrics } from './metrics.js';
import type { QueryRequest } from './schema.js';
import { type Answer, toAnswer } from './shape.js';
import type { QueryShare, QueryShares } from './shares.js';

export interface AnswerDeps extends ExecuteDeps, CompileDeps {
  readonly shares: QueryShares;
  readonly metrics: QueryMetrics;
  readonly now: () => number;
  /** Told of every question that is put to the engine. */
  readonly noteQuery: (projectId: ProjectId) => void;
}

export interface Question {
  readonly projectId: ProjectId;
  readonly request: QueryRequest;
  readonly requestId: string;
  /** Aborted when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
}

export async function answer(deps: AnswerDeps, question: Question): Promise<Answer> {
  const startedAt = performance.now();
  const deadlineMs = Date.now() + deps.limits.timeoutMs;
  const share = await waitForShare(deps, question);
  const { requestId, signal } = question;
  const execution = beginExecution(deps, { requestId, signal, share, deadlineMs });
  try {
    const { compiled, ...counted } = await compileAndRun(deps, question, execution);
    const elapsedMs = Math.round(performance.now() - startedAt);
    deps.metrics.observe({ mode: compiled.mode, elapsedMs, rowsScanned: counted.rowsScanned });
    return toAnswer(compiled, question.request.offset, { ...counted, elapsedMs });
  } finally {
    // A query that was stopped keeps its place until the engine has ended it. The client does not wait for that.
    void execution.stopped().then(() => share.leave());
  }
}

async function waitForShare(deps: AnswerDeps, { projectId, signal }: Question): Promise<QueryShare> {
  const { timeoutMs } = deps.limits;
  const deadline = AbortSignal.timeout(timeoutMs);
  const endWait = deps.metrics.beginWait(deps.shares.isIdle(projectId));
  try {
    const share = await deps.shares.enter(projectId, AbortSignal.any([signal, deadline]));
    endWait();
    return share;
  } catch (cause) {
    if (signal.aborted) throw new AnswerNotWanted();
    deps.metrics.refused.inc({ reason: deadline.aborted ? 'waited' : 'queue_full' });
    throw deadline.aborted ? waitedTooLong(timeoutMs, cause) : cause;
  }
}

const waitedTooLong = (timeoutMs: number, cause: unknown): PublicError =>
  new PublicError(
    'timed_out',
    `the query waited ${timeoutMs / 1000} s for other queries to end and was not run; send fewer at a time`,
    { cause },
  );

async function compileAndRun(
  deps: AnswerDeps,
  { projectId, request }: Question,
  execution: Execution,
): Promise<Counted & { readonly compiled: CompiledQuery }> {
  const nowMs = deps.now();
  let compiled = await compileRequest(deps, { projectId, request, nowMs });
  deps.noteQuery(projectId);
  for (;;) {
    try {
      return { compiled, ...(await runCounted(compiled, request, execution)) };
    } catch (error) {
      if (!deps.guesses.learn(projectId, error)) throw error;
      compiled = await compileRequest(deps, { projectId, request, nowMs });
    }
  }
}

interface Compiling {
  readonly projectId: ProjectId;
  readonly request: QueryRequest;
  readonly nowMs: number;
}

async function compileRequest(deps: AnswerDeps, { projectId, request, nowMs }: Compiling): Promise<CompiledQuery> {
  const { timezone, limit, offset } = request;
  const answered = await compileOffLoop(deps, request.q, { projectId, nowMs, timezone, limit, offset });
  if ('compiled' in answered) return answered.compiled;
  deps.metrics.compileErrors.inc();
  throw new PublicError('bad_request', answered.message, { details: answered.details });
}

interface Counted {
  readonly rows: EngineResult['rows'];
  readonly total: number;
  readonly rowsScanned: number;
}

async function runCounted(compiled: CompiledQuery, request: QueryRequest, execution: Execution): Promise<Counted> {
  const page = await execution.run(compiled.statement);
  const cap = (total: number): number => Math.min(total, compiled.rowsMax ?? total);
  if (compiled.countStatement === undefined) return { ...page, total: cap(page.rowsBeforeLimit) };

  const end = request.offset + page.rows.length;
  const isWhole =
    compiled.rowsKept > 0 && page.rows.length < compiled.rowsKept && (page.rows.length > 0 || request.offset === 0);
  if (isWhole || end === compiled.rowsMax) return { ...page, total: end };
  const count = await execution.run(compiled.countStatement);
  return {
    rows: page.rows,
    total: cap(Number(count.rows[0]?.[0] ?? 0)),
    rowsScanned: page.rowsScanned + count.rowsScanned,
  };
}
