// What the tools of one request share: the token, the signal of its end, and how a query is asked
// for it, with the same places, limits and checks as by POST /query.
import type { Credential } from '../../access/credentials.js';
import type { LayeredRateLimit } from '../../access/rate-limits.js';
import type { AlertSettings } from '../../alerts/sync-alerts.js';
import type { Postgres } from '../../platform/postgres/client.js';
import { type AnswerDeps, answer } from '../answer.js';
import { LOOP_BYTES_MAX, sizeOf } from '../format-task.js';
import { parseQueryBody } from '../schema.js';
import { type CutAnswer, cutTask, type Form, toCutRequest } from './cut-answer.js';

export interface ToolDeps extends AnswerDeps {
  readonly postgres: Postgres;
  readonly settings: AlertSettings;
  readonly rateLimit: LayeredRateLimit;
  /** The public address of the console. */
  readonly publicUrl: URL;
}

export interface Call {
  readonly credential: Credential;
  readonly requestId: string;
  /** Aborted when the client has disconnected. */
  readonly signal: AbortSignal;
}

export interface Asked {
  readonly q: string;
  /** Default: the zone of the project. */
  readonly timezone?: string | undefined;
  readonly limit: number;
  readonly offset?: number | undefined;
}

/** Throws bad_request with every problem of the query. */
export async function ask(
  deps: AnswerDeps,
  { credential, requestId, signal }: Call,
  { asked, form, lengthMax }: { readonly asked: Asked; readonly form: Form; readonly lengthMax: number },
): Promise<CutAnswer> {
  const { projectId, kind, id } = credential;
  const request = toRequest(credential, asked);
  const question = { projectId, caller: { kind, id }, request, requestId, signal };
  return answer(deps, question, async (answered) => {
    const cut = toCutRequest(answered, { form, lengthMax, offset: request.offset });
    const isSmall = sizeOf(cut.compiled, cut.page) <= LOOP_BYTES_MAX.llm;
    return isSmall ? cutTask.run(cut) : deps.threads.run(cutTask, cut, projectId);
  });
}

export const toRequest = ({ timezone }: Credential, asked: Asked) =>
  parseQueryBody({ q: asked.q, limit: asked.limit, offset: asked.offset ?? 0, timezone: asked.timezone }, timezone);

/** `rows 1–50 of 437, next offset 50`. */
export function describeRows({ shown, total }: Omit<CutAnswer, 'text'>, offset = 0): string {
  if (shown === 0 && offset < total)
    return `rows 0 of ${total}: a row is longer than an answer may be; list fewer fields`;
  if (shown === 0) return total === 0 ? 'rows 0 of 0' : `no rows at offset ${offset} of ${total}`;
  const end = offset + shown;
  return `rows ${offset + 1}–${end} of ${total}${end < total ? `, next offset ${end}` : ''}`;
}

/** Describes the rows of a card, which have no offset. */
export const describeCard = (cut: Omit<CutAnswer, 'text'>): string =>
  cut.shown > 0 && cut.shown < cut.total
    ? `rows 1–${cut.shown} of ${cut.total}; run its query with query for the others`
    : describeRows(cut);

/** A longer link is left out. */
const LINK_LENGTH_MAX = 2_000;

/** Link to the query in the console; undefined when it would be too long. */
export function linkToQuery(
  { publicUrl }: Pick<ToolDeps, 'publicUrl'>,
  { credential }: Call,
  { q, timezone }: Pick<Asked, 'q' | 'timezone'>,
): string | undefined {
  const fragment = new URLSearchParams({ q, ...(timezone !== undefined && { tz: timezone }) });
  const link = new URL(`/projects/${credential.projectId}/ask#${fragment}`, publicUrl).href;
  return link.length <= LINK_LENGTH_MAX ? link : undefined;
}

export const linkToDashboard = ({ publicUrl }: Pick<ToolDeps, 'publicUrl'>, { credential }: Call, id: string): string =>
  new URL(`/projects/${credential.projectId}/dashboards/${id}`, publicUrl).href;
