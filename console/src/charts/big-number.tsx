// One number, large. The exact one stands beside it when it was shortened.
import { change, compact, exact } from '../answer/format.js';
import { texts } from '../texts.js';
import style from './big-number.module.css';

interface Props {
  readonly name: string;
  readonly value: number | null;
  /** Of the earlier range of `compare`. */
  readonly before?: number | null | undefined;
}

export function BigNumber({ name, value, before }: Props) {
  const short = value === null ? '–' : compact(value);
  const long = value === null ? '' : exact(value);
  return (
    <dl className={style.number} aria-label={`${name}: ${long || short}`}>
      <dt>{name}</dt>
      <dd>
        <span className={style.value}>{short}</span>
        {long !== short && <span className={style.exact}>{long}</span>}
        {before !== undefined && before !== null && (
          <span className={style.exact}>
            {texts.charts.before(exact(before))}
            {value !== null && before !== 0 && `, ${change((value - before) / before)}`}
          </span>
        )}
      </dd>
    </dl>
  );
}

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
