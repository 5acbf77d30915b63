// Buttons over the parts of a drawing that can be clicked, for keyboard and screen reader: the
// drawing itself is one image. One of them is in the tab order, arrow keys go to the others.
// Pointers reach the drawing below them.
import { type KeyboardEvent, useState } from 'react';
import style from './marks.module.css';

export interface Mark {
  /** What it shows, and what it does. */
  readonly name: string;
  /** In pixels from the left and the top of the drawing. */
  readonly box: readonly [left: number, top: number, width: number, height: number];
  readonly choose: () => void;
}

interface Props {
  readonly label: string;
  readonly marks: readonly Mark[];
  /** Called with the index of the mark that has the focus, and with undefined when none has. */
  readonly point?: (index: number | undefined) => void;
}

const STEPS: Readonly<Record<string, number>> = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

export function Marks({ label, marks, point }: Props) {
  const [chosen, setChosen] = useState(0);
  const current = Math.min(chosen, marks.length - 1);
  const press = (event: KeyboardEvent<HTMLElement>): void => {
    const last = marks.length - 1;
    const ends: Readonly<Record<string, number>> = { Home: 0, End: last };
    const next = ends[event.key] ?? current + (STEPS[event.key] ?? Number.NaN);
    if (Number.isNaN(next)) return;
    event.preventDefault();
    event.currentTarget.querySelectorAll('button')[Math.max(0, Math.min(last, next))]?.focus();
  };
  if (marks.length === 0) return null;
  return (
    // biome-ignore lint/a11y/useSemanticElements: the buttons are no fields of a form
    <div role="group" aria-label={label} className={style.marks} onKeyDown={press}>
      {marks.map(({ name, box: [left, top, width, height], choose }, index) => (
        <button
          key={name}
          type="button"
          className={style.mark}
          style={{ left, top, width, height }}
          tabIndex={index === current ? 0 : -1}
          aria-label={name}
          onClick={choose}
          onFocus={() => {
            setChosen(index);
            point?.(index);
          }}
          onBlur={() => point?.(undefined)}
        />
      ))}
    </div>
  );
}
