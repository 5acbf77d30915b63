// Plan of a query: its parts in words, the time and the columns of its answer, how many people pass
// each call in its conditions, and the SQL that would run.
import { useQueries, useQuery } from '@tanstack/react-query';
import type { CallQueries } from '../../../src/query/call-queries.js';
import { FailedAnswer } from '../answer/failed-answer.js';
import { exact, period } from '../answer/format.js';
import { query } from '../api/query.js';
import { postJson, type RequestFailed } from '../api/request.js';
import { callsOf, partsOf } from '../language/words.js';
import { Dialog } from '../shell/dialog.js';
import { CopyButton } from '../start/copy-button.js';
import { explainTexts } from '../texts/explain.js';
import { texts } from '../texts.js';
import style from './explain-dialog.module.css';

/** Answer of a query with `explain`. */
interface Explanation {
  readonly period: string;
  readonly timezone: string;
  readonly columns: readonly string[];
  readonly warnings: readonly string[];
  readonly sql: string;
}

interface Props {
  readonly projectId: string;
  readonly q: string;
  readonly timezone: string;
  readonly close: () => void;
}

export function ExplainDialog({ projectId, q, timezone, close }: Props) {
  const { data, error, isFetching, refetch } = useQuery<Explanation, RequestFailed>({
    queryKey: ['explain', projectId, q, timezone],
    queryFn: async ({ signal }) => {
      const body = { q, timezone, explain: true };
      return postJson<Explanation>(`/api/projects/${projectId}/query`, body, signal);
    },
    staleTime: 0,
  });
  return (
    <Dialog name={explainTexts.title} close={close} className={style.dialog}>
      <h2>{explainTexts.title}</h2>
      <dl className={style.parts} aria-label={explainTexts.parts}>
        {partsOf(q).map(({ text, about }) => (
          <div key={text}>
            <dt>
              <code>{text}</code>
            </dt>
            <dd>{about}</dd>
          </div>
        ))}
      </dl>
      {error && !isFetching && <FailedAnswer failure={error} retry={() => void refetch()} />}
      {data === undefined && isFetching && <p role="status">{texts.loading}</p>}
      {data !== undefined && (
        <>
          <p>
            <strong>{explainTexts.reads}</strong> {period(data.period, data.timezone)}, {data.timezone}
          </p>
          <p>
            <strong>{explainTexts.columns}</strong> {data.columns.join(', ')}
          </p>
          <Calls calls={callsOf(q, data.period)} projectId={projectId} timezone={data.timezone} />
          <div className={style.head}>
            <h3>{explainTexts.sql}</h3>
            <CopyButton name={explainTexts.sql} text={data.sql} />
          </div>
          <p className="muted">{explainTexts.sqlNote}</p>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
          <section className={style.scroll} tabIndex={0} aria-label={explainTexts.sql}>
            <pre>{data.sql}</pre>
          </section>
        </>
      )}
      <form method="dialog">
        <button type="submit" className="button">
          {explainTexts.close}
        </button>
      </form>
    </Dialog>
  );
}

interface CallsProps extends Pick<Props, 'projectId' | 'timezone'> {
  readonly calls: readonly CallQueries[];
}

/** How many people pass each call. Unlike the rest, this asks the service. */
function Calls({ calls, projectId, timezone }: CallsProps) {
  const results = useQueries({
    queries: [...calls.map(({ passing }) => passing), ...calls.slice(0, 1).map(({ all }) => all)].map((counting) => ({
      queryKey: ['explain', projectId, counting, timezone],
      queryFn: ({ signal }: { readonly signal: AbortSignal }) => query({ projectId, q: counting, timezone }, signal),
      staleTime: 0,
    })),
  });
  if (calls.length === 0) return null;
  const counts = results.map(({ data }) => Number(data?.rows[0]?.value ?? Number.NaN));
  const failed = results.find(({ error, isFetching }) => error !== null && !isFetching);
  const all = counts.at(-1) ?? Number.NaN;
  return (
    <>
      <h3>{explainTexts.calls}</h3>
      {failed?.error && (
        <FailedAnswer
          failure={failed.error}
          retry={() => {
            for (const { refetch } of results) void refetch();
          }}
        />
      )}
      <dl className={style.parts} aria-label={explainTexts.calls}>
        {calls.map(({ written }, index) => (
          <div key={written}>
            <dt>
              <code>{written}</code>
            </dt>
            <dd>{failed ? '' : passOf(counts[index] ?? Number.NaN, all)}</dd>
          </div>
        ))}
      </dl>
    </>
  );
}

const passOf = (passing: number, all: number): string =>
  Number.isNaN(passing) || Number.isNaN(all) ? texts.loading : explainTexts.pass(exact(passing), exact(all));
