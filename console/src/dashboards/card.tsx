// Dashboard card: runs its queries when it scrolls into view, and shows loading, error and empty
// states like the screen Ask.
import { useQueries } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { Link } from 'wouter';
import { LINKED } from '../alerts/new-in-address.js';
import { FailedAnswer } from '../answer/failed-answer.js';
import { period } from '../answer/format.js';
import { isEmpty } from '../answer/is-empty.js';
import type { Answer } from '../api/answer.js';
import { paced } from '../api/paced.js';
import { query, ROWS_MAX } from '../api/query.js';
import type { RequestFailed } from '../api/request.js';
import { retryFailed } from '../api/retry-failed.js';
import { toFragment } from '../ask/permalink.js';
import { Boundary } from '../shell/boundary.js';
import { Icon } from '../shell/icon.js';
import { dashboardsTexts } from '../texts/dashboards.js';
import { texts } from '../texts.js';
import type { Card, FilledCard, NamedQuery } from './api.js';
import style from './card.module.css';
import { CardDrawing } from './card-drawing.js';
import { Markdown } from './markdown.js';

/** Rows of a card that lists them; other cards draw all rows. */
const LISTED_ROWS = 1000;
const LISTS = ['table', 'event-stream', 'json'];
const WIDTHS: Readonly<Record<string, number>> = { number: 3 };
const WIDTH = 6;
const COLUMNS = 12;

interface Props {
  readonly projectId: string;
  readonly card: Card;
  /** Undefined while the queries are being filled. */
  readonly filled: FilledCard | undefined;
  /** Whether they could not be filled: the dashboard says why. */
  readonly isFailed: boolean;
  readonly timezone: string;
  /** Whether the range of the dashboard does not change it: it names its own. */
  readonly hasOwnRange: boolean;
  /** Opens the form of the card; undefined where the dashboard is not edited here. */
  readonly edit?: (() => void) | undefined;
}

export function CardView({ projectId, card, filled, isFailed, timezone, hasOwnRange, edit }: Props) {
  const [ref, isSeen] = useIsSeen();
  const queries = filled?.queries ?? [];
  const width = card.layout?.w ?? WIDTHS[card.viz] ?? WIDTH;
  const [first] = queries;
  return (
    <section
      ref={ref}
      className={`card ${style.card} ${width < COLUMNS ? style.beside : ''}`}
      aria-label={card.title}
      style={{ '--columns': width } as React.CSSProperties}
    >
      <header className={style.head}>
        <h3>{card.title}</h3>
        <span className={style.tools}>
          {edit !== undefined && (
            <button
              type="button"
              className={style.open}
              aria-label={dashboardsTexts.editCard(card.title)}
              onClick={edit}
            >
              <Icon name="edit" size={16} />
            </button>
          )}
          {first !== undefined && queries.length === 1 && (
            <>
              <Link
                className={style.open}
                href={`/projects/${projectId}/alerts#${new URLSearchParams({ new: first.q })}`}
                state={LINKED}
                aria-label={dashboardsTexts.newAlert(card.title)}
              >
                <Icon name="alert" size={16} />
              </Link>
              <Link
                className={style.open}
                href={`/projects/${projectId}/ask${toFragment({ q: first.q, tz: first.timezone })}`}
                aria-label={dashboardsTexts.openInAsk(card.title)}
              >
                <Icon name="ask" size={16} />
              </Link>
            </>
          )}
        </span>
      </header>
      <Boundary part="card" of={JSON.stringify([card, queries])}>
        {card.markdown !== undefined ? (
          <Markdown source={card.markdown} />
        ) : filled?.error !== undefined ? (
          <p role="status" className="muted">
            {filled.error}
          </p>
        ) : filled !== undefined && isSeen ? (
          <Answers {...{ projectId, card, queries, timezone, hasOwnRange }} />
        ) : (
          !isFailed && <Waiting />
        )}
      </Boundary>
    </section>
  );
}

interface AnswersProps extends Omit<Props, 'filled' | 'isFailed' | 'edit'> {
  readonly queries: readonly NamedQuery[];
}

function Answers({ projectId, card, queries, timezone, hasOwnRange }: AnswersProps) {
  const limit = LISTS.includes(card.viz) ? LISTED_ROWS : ROWS_MAX;
  const results = useQueries({
    queries: queries.map(({ q, timezone: zone }) => ({
      queryKey: ['card', projectId, q, zone, limit],
      queryFn: ({ signal }: { signal: AbortSignal }): Promise<Answer> =>
        paced(() => query({ projectId, q, timezone: zone, limit }, signal), signal),
      // The earlier answer stays while another variable is chosen.
      placeholderData: (before: Answer | undefined) => before,
    })),
  });
  const failed = results.find(({ error }) => error !== null);
  if (failed !== undefined) {
    return <FailedAnswer failure={failed.error as RequestFailed} retry={retryFailed(results)} />;
  }
  const answers = results.map(({ data }) => data);
  if (!answers.every((answer) => answer !== undefined)) {
    return <Waiting />;
  }
  const isOld = results.some(({ isPlaceholderData }) => isPlaceholderData);
  const warnings = [...new Set(answers.flatMap(({ metadata }) => metadata?.warnings ?? []))];
  return (
    <div className={isOld ? style.old : undefined} aria-busy={isOld}>
      {/* The next answer is drawn, also after one that could not be. */}
      <Boundary part="card" of={results.map(({ dataUpdatedAt }) => dataUpdatedAt).join()}>
        {hasOwnRange && <OwnRange answers={answers} timezone={timezone} />}
        {answers.every(isEmpty) ? (
          <p role="status" className={style.none}>
            {texts.answer.empty}
          </p>
        ) : (
          <CardDrawing card={card} answers={answers} names={queries.map(({ name }) => name)} timezone={timezone} />
        )}
      </Boundary>
      {warnings.map((warning) => (
        <p key={warning} className={style.warning}>
          {warning}
        </p>
      ))}
    </div>
  );
}

const Waiting = () => <div className={style.waiting} role="status" aria-label={texts.loading} />;

function OwnRange({ answers, timezone }: { readonly answers: readonly Answer[]; readonly timezone: string }) {
  const periods = [...new Set(answers.map((answer) => period(answer.period, timezone)))].join(' · ');
  return <p className={style.ownRange}>{dashboardsTexts.ownRange(periods)}</p>;
}

/**
 * Whether the element has come near the view: a long dashboard asks for what is read. Printing
 * shows everything.
 */
function useIsSeen(): [React.RefObject<HTMLElement | null>, boolean] {
  const ref = useRef<HTMLElement>(null);
  const [isSeen, setSeen] = useState(false);
  useEffect(() => {
    if (ref.current === null || isSeen) return;
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some(({ isIntersecting }) => isIntersecting)) setSeen(true);
      },
      { rootMargin: '400px' },
    );
    observer.observe(ref.current);
    const show = (): void => setSeen(true);
    window.addEventListener('beforeprint', show);
    return () => {
      observer.disconnect();
      window.removeEventListener('beforeprint', show);
    };
  }, [isSeen]);
  return [ref, isSeen];
}
