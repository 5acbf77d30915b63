// `npm run explain -- [--stage parse|analyze|plan|print|calls] '<query>'`: shows what each stage of
// the compiler makes of a query, and for the calls in its conditions how many people pass each.
import { env } from 'node:process';
import { failWithMessage } from '../src/platform/command-failure.js';
import { toProjectId } from '../src/platform/ids.js';
import { parseHttpUrl, readArguments, UsageError } from '../src/platform/usage-error.js';
import { analyze } from '../src/query/analyze/analyze.js';
import { callQueriesOf } from '../src/query/call-queries.js';
import { drawDetail, toDetails } from '../src/query/errors.js';
import { parse } from '../src/query/parse/parse.js';
import { print } from '../src/query/print/print.js';
import { toScript } from '../src/query/print/script.js';
import { show } from '../src/query/show.js';
import { plan } from '../src/query/sources/plans.js';
import { findTimeZone } from '../src/query/time/timezone.js';
import { countPassing, type Service } from './explain-calls.js';

const STAGES = ['parse', 'analyze', 'plan', 'print', 'calls'] as const;
type StageName = (typeof STAGES)[number];

const USAGE =
  "usage: npm run explain -- [--stage parse|analyze|plan|print|calls] [--timezone Europe/Berlin] [--url URL --key sk_…] '<query>'";

const CONTEXT = {
  projectId: toProjectId('00000000-0000-7000-8000-000000000000'),
  limit: 100,
  offset: 0,
} as const;

/** The text of each stage that was reached, and of the problems that stopped the next. */
export function explain(text: string, context: { nowMs: number; timezone: string }): ReadonlyMap<string, string> {
  const shown = new Map<string, string>();
  const { query, problems: syntaxProblems } = parse(text);
  shown.set('parse', show(query));
  const { query: resolved, problems } = analyze(query, context);
  const details = toDetails(text, [...syntaxProblems, ...problems]);
  if (details.length > 0 || !resolved) {
    shown.set('problems', details.map((detail) => drawDetail(text, detail)).join('\n\n'));
    return shown;
  }
  shown.set('analyze', show(resolved));
  const planned = plan(resolved, { ...CONTEXT, nowMs: context.nowMs });
  shown.set('plan', show(planned));
  shown.set('print', toScript(print(planned.select)));
  const calls = callQueriesOf(text, query, resolved.selection.range);
  if (calls.length > 0) shown.set('calls', calls.map(({ passing }) => passing).join('\n'));
  return shown;
}

/** The people who pass each call, of a service whose address and key are given. */
async function showPassing(
  text: string,
  context: { nowMs: number; timezone: string },
  service: Service,
): Promise<string> {
  const { query } = parse(text);
  const { query: resolved } = analyze(query, context);
  return resolved ? countPassing(callQueriesOf(text, query, resolved.selection.range), service) : '';
}

/** Message of a failed call to the service; the other stages need no service. */
function toFailure(error: unknown): string {
  process.exitCode = 1;
  return error instanceof Error
    ? `${error.message}${error.cause instanceof Error ? `: ${error.cause.message}` : ''}`
    : String(error);
}

async function main(): Promise<void> {
  const { values, positionals } = readArguments({
    allowPositionals: true,
    options: {
      stage: { type: 'string' },
      timezone: { type: 'string', default: 'UTC' },
      url: { type: 'string', default: env.SERVICE_URL ?? '' },
      key: { type: 'string', default: env.SERVICE_KEY ?? '' },
    },
  });
  const text = positionals.join(' ');
  if (text === '') throw new UsageError(USAGE);
  if (values.stage !== undefined && !STAGES.includes(values.stage as StageName)) {
    throw new UsageError(`--stage is one of ${STAGES.join(', ')}, not "${values.stage}"`);
  }
  const timezone = findTimeZone(values.timezone);
  if (timezone === undefined) {
    throw new UsageError(`--timezone is not a time zone: "${values.timezone}"; one is Europe/Berlin`);
  }
  if (values.url !== '') parseHttpUrl('--url', values.url);
  const context = { nowMs: Date.now(), timezone };
  const shown = new Map(explain(text, context));
  const { url, key } = values;
  if (shown.has('calls') && url !== '' && key !== '') {
    shown.set('calls', await showPassing(text, context, { url, key, timezone }).catch(toFailure));
  }
  if (values.stage === 'calls' && !shown.has('calls') && !shown.has('problems')) {
    shown.set('calls', 'the query has no calls in its conditions');
  }
  for (const [stage, form] of shown) {
    if (values.stage === undefined || stage === values.stage || stage === 'problems') {
      process.stdout.write(`── ${stage} ──\n${form}\n\n`);
    }
  }
  if (shown.has('problems')) process.exitCode = 1;
}

if (process.argv[1]?.endsWith('explain.js')) await main().catch((error: unknown) => failWithMessage(error));
