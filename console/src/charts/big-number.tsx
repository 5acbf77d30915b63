// One number, large. The exact one stands beside it when it was shortened.
import { compact, exact } from '../answer/format.js';
import style from './big-number.module.css';

interface Props {
  readonly name: string;
  readonly value: number | null;
}

export function BigNumber({ name, value }: Props) {
  const short = value === null ? '–' : compact(value);
  const long = value === null ? '' : exact(value);
  return (
    <dl className={style.number} aria-label={`${name}: ${long || short}`}>
      <dt>{name}</dt>
      <dd>
        <span className={style.value}>{short}</span>
        {long !== short && <span className={style.exact}>{long}</span>}
      </dd>
    </dl>
  );
}

/** Several numbers side by side. */
export function Tiles({ tiles }: { readonly tiles: readonly { readonly name: string; readonly text: string }[] }) {
  return (
    <dl className={style.tiles}>
      {tiles.map(({ name, text }) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{text}</dd>
        </div>
      ))}
    </dl>
  );
}
