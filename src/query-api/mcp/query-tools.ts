// The tools query and check: an answer with its rows, or what a query means without running it.
import { z } from 'zod';
import { PEOPLE_MODE } from '../../query/people-columns.js';
import { compileRequest, warnOfUnseen } from '../answer.js';
import { toPeriod } from '../shape.js';
import { ask, type Call, describeRows, linkToQuery, type ToolDeps, toRequest } from './call.js';
import { escapeInvisible, FORMS } from './cut-answer.js';
import { ANSWER_LENGTH_MAX, DATA_NOTE, ESCAPE_NOTE_LENGTH, noteEscapes } from './tool-answer.js';

const QUERY_LIMIT_MAX = 1_000;

export const queryInput = z.strictObject({
  q: z.string(),
  timezone: z.string().optional().describe('default: of the project'),
  limit: z.int32().min(1).max(QUERY_LIMIT_MAX).default(50),
  offset: z.int32().min(0).default(0),
  format: z.enum(FORMS).default('markdown'),
});

export async function runQuery(deps: ToolDeps, call: Call, input: z.infer<typeof queryInput>): Promise<string> {
  const { format, ...asked } = input;
  const link = linkToQuery(deps, call, asked);
  const notes = [...(link === undefined ? [] : [`Console: ${link}`]), DATA_NOTE];
  const lengthMax = ANSWER_LENGTH_MAX - HEADING_LENGTH - ESCAPE_NOTE_LENGTH - notes.join('\n').length;
  const cut = await ask(deps, call, { asked, form: format, lengthMax });
  const escapes = format === 'markdown' ? noteEscapes(cut.text) : [];
  return [describeRows(cut, asked.offset), ...notes, ...escapes, cut.text].join('\n');
}

/** Length of the line that counts the rows, and of line breaks. */
const HEADING_LENGTH = 100;

export const checkInput = z.strictObject({ q: z.string() });

/** Runs nothing. Throws bad_request with every problem of the query. */
export async function runCheck(
  deps: ToolDeps,
  { credential }: Call,
  { q }: z.infer<typeof checkInput>,
): Promise<string> {
  const { projectId } = credential;
  const request = toRequest(credential, { q, limit: 50 });
  const compiled = await compileRequest(deps, { projectId, request, nowMs: deps.now() });
  const unseen = await warnOfUnseen(deps, projectId, compiled);
  const { from, to } = toPeriod(compiled.range);
  const isForPeople = compiled.mode === PEOPLE_MODE;
  const warnings = [
    ...compiled.warnings,
    ...unseen,
    ...(isForPeople ? ['lists of people need a secret key (sk_…) or a session; a token does not get them'] : []),
  ];
  return escapeInvisible(
    JSON.stringify({
      ok: true,
      mode: compiled.mode,
      period: `${from}/${to}`,
      timezone: compiled.timezone,
      columns: compiled.columns.map(({ name, type }) => ({ name, type })),
      ...(compiled.definitions.length > 0 && { definitions: compiled.definitions.map(({ line: _, ...used }) => used) }),
      ...(warnings.length > 0 && { warnings }),
    }),
  );
}
