// A table of the settings in a card, which scrolls sideways where it is wider than the page.
import type { ReactNode } from 'react';
import style from './settings.module.css';

interface Props {
  readonly name: string;
  readonly columns: readonly string[];
  /** Rows of the body. */
  readonly children: ReactNode;
}

export function ScrollingTable({ name, columns, children }: Props) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <section className={`card ${style.scroll}`} tabIndex={0} aria-label={name}>
      <table className={style.table} aria-label={name}>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column} scope="col">
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </section>
  );
}
