// Share chart: a segmented bar and a list with the share of each group. The smallest groups are
// summed up as one segment.
import { numberIn, showCell, splitColumns } from '../answer/columns.js';
import { compact, percent } from '../answer/format.js';
import type { Answer } from '../api/answer.js';
import { texts } from '../texts.js';
import { colorOf } from './series.js';
import style from './shares.module.css';

const PARTS_MAX = 7;

export function Shares({ answer, timezone }: { readonly answer: Answer; readonly timezone: string }) {
  const { groups, measure } = splitColumns(answer);
  const all = answer.rows
    .map((row) => ({
      name: groups.map((column) => showCell(column, row[column.name], timezone)).join(' · '),
      value: numberIn(row, measure.name) ?? 0,
    }))
    .sort((a, b) => b.value - a.value);
  const rest = all.slice(PARTS_MAX).reduce((sum, { value }) => sum + value, 0);
  const parts = [...all.slice(0, PARTS_MAX), ...(rest > 0 ? [{ name: texts.charts.rest, value: rest }] : [])];
  const whole = parts.reduce((sum, { value }) => sum + value, 0) || 1;
  return (
    <div>
      <div className={style.bar} aria-hidden="true">
        {parts.map(({ name, value }, index) => (
          <span
            key={name}
            className="mark"
            style={{ inlineSize: `${(value / whole) * 100}%`, background: colorOf(index) }}
          />
        ))}
      </div>
      <ul className={style.list} aria-label={measure.name}>
        {parts.map(({ name, value }, index) => (
          <li key={name}>
            <span className={`mark ${style.swatch}`} style={{ background: colorOf(index) }} />
            <span className={style.name} title={name}>
              {name}
            </span>
            <span className="muted">{compact(value)}</span>
            <strong>{percent(value / whole)}</strong>
          </li>
        ))}
      </ul>
    </div>
  );
}
