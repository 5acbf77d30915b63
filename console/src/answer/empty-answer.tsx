// Empty state of an answer (no rows, or zeros only): shows the period that was read and offers a
// wider time range.
import type { Answer } from '../api/answer.js';
import { texts } from '../texts.js';
import { numberIn, splitColumns } from './columns.js';
import { period } from './format.js';
import style from './state.module.css';

const COUNTING: Readonly<Record<string, string>> = { funnel: 'users', stickiness: 'users', lifecycle: 'users' };

/** No row, or zeros only. */
export function isEmpty(answer: Answer): boolean {
  const { rows, mode } = answer;
  if (rows.length === 0) return true;
  const column =
    mode === 'aggregate' ? splitColumns(answer).measure.name : mode === 'sessions' ? 'sessions' : COUNTING[mode];
  return column !== undefined && rows.every((row) => (numberIn(row, column) ?? 0) === 0);
}

const DAY_MS = 86_400_000;
const WIDER = [
  [30, '30 days', 'last 30d'],
  [90, '90 days', 'last 90d'],
  [365, 'a year', 'last 1y'],
] as const;

interface Props {
  readonly answer: Answer;
  readonly q: string;
  readonly timezone: string;
  readonly ask: (q: string) => void;
}

export function EmptyAnswer({ answer, q, timezone, ask }: Props) {
  const [from = '', to = ''] = answer.period.split('/');
  const days = (Date.parse(to) - Date.parse(from)) / DAY_MS;
  const wider = WIDER.find(([size]) => size > days * 1.05);
  const widen = async (stage: string): Promise<void> => {
    const { withTimeRange } = await import('../language/language.js');
    ask(withTimeRange(q, stage));
  };
  return (
    <div className={style.state}>
      <p role="status" className={style.title}>
        {texts.answer.empty}
      </p>
      <p className="muted">{texts.answer.emptyIn(`${period(answer.period, timezone)}, ${timezone}`)}</p>
      {wider !== undefined && (
        <button type="button" className="button" onClick={() => void widen(wider[2])}>
          {texts.answer.widen(wider[1])}
        </button>
      )}
    </div>
  );
}
