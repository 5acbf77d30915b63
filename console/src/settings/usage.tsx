// Usage by day: events received and stored, queries run. Days are those of UTC, as they are
// counted.
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { compact, day, exact, monthAndDay } from '../answer/format.js';
import { Pending } from '../answer/pending.js';
import { serviceNow } from '../api/clock.js';
import type { Project } from '../boot.js';
import { Tiles } from '../charts/big-number.js';
import { LineChart } from '../charts/line-chart.js';
import type { BucketData } from '../charts/series.js';
import { settingsTexts } from '../texts/settings.js';
import { texts } from '../texts.js';
import { type UsageDay, usageQuery } from './api.js';
import style from './settings.module.css';

const DAY_MS = 86_400_000;
const SPANS = [30, 90, 365] as const;
const FIGURES = ['events_ingested', 'events_stored', 'queries_run'] as const;
type Figure = (typeof FIGURES)[number];

const dateOf = (moment: number): string => new Date(moment).toISOString().slice(0, 10);

export function Usage({ project }: { readonly project: Project }) {
  const [span, setSpan] = useState<number>(30);
  const [figure, setFigure] = useState<Figure>('events_ingested');
  const to = dateOf(serviceNow());
  const request = useQuery({
    ...usageQuery(project, dateOf(serviceNow() - (span - 1) * DAY_MS), to),
    // The figures of the earlier period stay until those of another one have come.
    placeholderData: (before) => before,
  });
  const { data, isPlaceholderData } = request;
  return (
    <>
      <div className={style.line}>
        <label>
          {settingsTexts.period}{' '}
          <select className="field" value={span} onChange={({ target }) => setSpan(Number(target.value))}>
            {SPANS.map((days) => (
              <option key={days} value={days}>
                {settingsTexts.days(days)}
              </option>
            ))}
          </select>
        </label>
      </div>
      <Pending of={request} />
      {data !== undefined && (
        <div className={style.figures} aria-busy={isPlaceholderData}>
          <Figures days={data} today={to} figure={figure} choose={setFigure} />
        </div>
      )}
    </>
  );
}

interface FiguresProps {
  readonly days: readonly UsageDay[];
  readonly today: string;
  readonly figure: Figure;
  readonly choose: (figure: Figure) => void;
}

function Figures({ days, today, figure, choose }: FiguresProps) {
  const sum = (of: Figure): number => days.reduce((total, each) => total + each[of], 0);
  return (
    <>
      <Tiles tiles={FIGURES.map((of) => ({ name: settingsTexts.figures[of], text: exact(sum(of)) }))} />
      <fieldset className={style.choices}>
        <legend className="unseen">{texts.charts.line}</legend>
        {FIGURES.map((of) => (
          <button
            key={of}
            type="button"
            className="button small"
            aria-pressed={of === figure}
            onClick={() => choose(of)}
          >
            {settingsTexts.figures[of]}
          </button>
        ))}
      </fieldset>
      <section className={`card ${style.card}`} aria-label={settingsTexts.parts.usage}>
        <LineChart
          data={toData(days, figure, today)}
          name={texts.charts.byDay(settingsTexts.figures[figure], exact(sum(figure)))}
        />
      </section>
    </>
  );
}

const toData = (days: readonly UsageDay[], figure: Figure, today: string): BucketData => ({
  buckets: days.map(({ date }) => ({
    short: monthAndDay(date),
    long: day(date, true),
    part: date === today ? 'so far' : undefined,
  })),
  series: [{ name: settingsTexts.figures[figure], values: days.map((each) => each[figure]) }],
  short: compact,
  long: exact,
});
