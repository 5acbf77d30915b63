// Empty state of an answer (is-empty.ts): shows the period that was read and offers a wider time
// range; in a project without events, the way to send them.
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import type { Answer } from '../api/answer.js';
import { namesQuery } from '../api/names.js';
import { texts } from '../texts.js';
import { period } from './format.js';
import style from './state.module.css';

const DAY_MS = 86_400_000;
const WIDER = [
  [30, '30 days', 'last 30d'],
  [90, '90 days', 'last 90d'],
  [365, 'a year', 'last 1y'],
  // What an import has brought.
  [7305, '20 years', 'last 20y'],
] as const;

interface Props {
  readonly projectId: string;
  readonly answer: Answer;
  readonly q: string;
  readonly timezone: string;
  readonly ask: (q: string) => void;
}

export function EmptyAnswer({ projectId, answer, q, timezone, ask }: Props) {
  const { data: names } = useQuery(namesQuery(projectId));
  const [from = '', to = ''] = answer.period.split('/');
  const days = (Date.parse(to) - Date.parse(from)) / DAY_MS;
  const wider = WIDER.find(([size]) => size > days * 1.05);
  const [isUnloaded, setUnloaded] = useState(false);
  const widen = (stage: string): Promise<void> =>
    import('../language/language.js').then(
      ({ withTimeRange }) => ask(withTimeRange(q, stage)),
      () => setUnloaded(true),
    );
  return (
    <div className={style.state}>
      <p role="status" className={style.title}>
        {texts.answer.empty}
      </p>
      <p className="muted">{texts.answer.emptyIn(`${period(answer.period, timezone)}, ${timezone}`)}</p>
      {answer.mode === 'sessions' && <p className="muted">{texts.answer.emptySessions}</p>}
      {names?.events.length === 0 ? (
        <Link className="button" href={`/projects/${projectId}/start`}>
          {texts.nav.start}
        </Link>
      ) : (
        wider !== undefined && (
          <button type="button" className="button" onClick={() => void widen(wider[2])}>
            {texts.answer.widen(wider[1])}
          </button>
        )
      )}
      {isUnloaded && <p role="alert">{texts.fileMissing}</p>}
    </div>
  );
}
