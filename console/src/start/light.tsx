// A light that turns green with the first event. It watches the store that answers queries, and
// shows rejected events with their reasons, because a broken set-up looks like waiting. Once it is
// green, the first question is the next step.
import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { Link } from 'wouter';
import { compact } from '../answer/format.js';
import { eventCountQuery, hasEventsQuery } from '../api/event-count.js';
import { useLive } from '../api/use-live.js';
import { startTexts } from '../texts/start.js';
import { texts } from '../texts.js';
import style from './start.module.css';

const PATIENCE_MS = 30_000;
const SAMPLES_SHOWN = 3;

type State = 'waiting' | 'received' | 'rejected';

export function Light({ projectId }: { readonly projectId: string }) {
  const [wasNew, setWasNew] = useState(false);
  const isLate = useIsLate(PATIENCE_MS);
  const { data: count, error } = useQuery(eventCountQuery(projectId));
  const { data: isUsed, isLoading } = useQuery(hasEventsQuery(projectId));
  useEffect(() => {
    if (isUsed === false) setWasNew(true);
  }, [isUsed]);
  const [hasArrived, setArrived] = useState(false);
  const live = useLive(projectId, count === 0 && !hasArrived);
  useEffect(() => {
    if ((live.events?.length ?? 0) > 0) setArrived(true);
  }, [live.events]);
  const hasEvents = (count ?? 0) > 0 || hasArrived;
  const samples = hasEvents ? [] : live.rejected;
  const state: State = hasEvents ? 'received' : samples.length > 0 ? 'rejected' : 'waiting';
  const status = {
    waiting: isUsed === true ? startTexts.quiet : startTexts.waiting,
    rejected: `${startTexts.rejected}: ${[...new Set(samples.map(({ reason }) => plain(reason)))].join(', ')}`,
    received: wasNew
      ? startTexts.received
      : count === 0
        ? startTexts.receivedAgain
        : startTexts.receivedMore(compact(count ?? 0)),
  }[state];
  // The screen says why.
  if (error !== null) return null;
  return (
    <section className={`card ${style.light}`}>
      <span className={`mark ${style.lamp}`} data-state={state} aria-hidden="true" />
      <p role="status" className={style.status}>
        {count !== undefined && !isLoading ? status : texts.loading}
      </p>
      {hasEvents && (
        <Link className={wasNew ? 'button primary' : 'button'} href={`/projects/${projectId}/ask`}>
          {startTexts.ask}
        </Link>
      )}
      {state === 'waiting' && live.problem !== undefined && <p className={style.more}>{live.problem}</p>}
      {state === 'waiting' && isLate && <p className={style.more}>{startTexts.nothing}</p>}
      {samples.length > 0 && (
        <ul className={style.samples}>
          {samples.slice(0, SAMPLES_SHOWN).map((sample) => (
            <li key={`${sample.at} ${sample.event}`}>
              {plain(sample.reason)}
              <code>{sample.event}</code>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

const plain = (reason: string): string => reason.replaceAll('_', ' ');

function useIsLate(afterMs: number): boolean {
  const [isLate, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), afterMs);
    return () => clearTimeout(timer);
  }, [afterMs]);
  return isLate;
}
