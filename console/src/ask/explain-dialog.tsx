// Plan of a query: its parts in words, the time and the columns of its answer, and the SQL that
// would run.
import { useQuery } from '@tanstack/react-query';
import { FailedAnswer } from '../answer/failed-answer.js';
import { period } from '../answer/format.js';
import { postJson, type RequestFailed } from '../api/request.js';
import { partsOf } from '../language/words.js';
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
      return (await postJson(`/api/projects/${projectId}/query`, body, signal)).json() as Promise<Explanation>;
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
