// One number, large. The exact one stands beside it when it was shortened.
import { change, compact, exact, percent } from '../answer/format.js';
import { texts } from '../texts.js';
import style from './big-number.module.css';

interface Props {
  readonly name: string;
  readonly value: number | null;
  /** Value of the earlier range of `compare`. */
  readonly before?: number | null | undefined;
  readonly unit?: string | undefined;
  readonly decimals?: number | undefined;
  /** Whether the value is a share of 1, shown in percent. */
  readonly isShare?: boolean;
  /** Whether a title above it names it: its own name is for screen readers. */
  readonly isTitled?: boolean;
}

export function BigNumber({ name, value, before, unit, decimals, isShare = false, isTitled = false }: Props) {
  const toText = (of: number) => (isShare ? percent(of) : decimals === undefined ? exact(of) : fixed(of, decimals));
  const long = value === null ? '' : toText(value);
  const short = value === null ? '–' : isShare || hasRoom(value, decimals) ? long : compact(value);
  return (
    <dl className={style.number} aria-label={`${name}: ${long || short}`}>
      <dt className={isTitled ? 'unseen' : undefined}>{name}</dt>
      <dd>
        <span className={style.value}>{short}</span>
        {unit !== undefined && <span className={style.exact}>{unit}</span>}
        {long !== short && long !== '' && <span className={style.exact}>{long}</span>}
        {before !== undefined && before !== null && (
          <span className={style.exact}>
            {texts.charts.before(toText(before))}
            {value !== null && before !== 0 && `, ${change((value - before) / before)}`}
          </span>
        )}
      </dd>
    </dl>
  );
}

/** Numbers below ten thousand are not shortened when their decimals are fixed. */
const hasRoom = (value: number, decimals: number | undefined): boolean =>
  decimals !== undefined && Math.abs(value) < 10_000;

const fixed = (value: number, decimals: number): string => {
  const digits = Math.min(20, Math.max(0, Math.round(decimals)));
  return value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits });
};

/** Several numbers side by side. */
interface Tile {
  readonly name: string;
  readonly text: string;
  readonly before?: string | undefined;
}

export function Tiles({ tiles }: { readonly tiles: readonly Tile[] }) {
  return (
    <dl className={style.tiles}>
      {tiles.map(({ name, text, before }) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{text}</dd>
          {before !== undefined && <dd className={style.before}>{before}</dd>}
        </div>
      ))}
    </dl>
  );
}
