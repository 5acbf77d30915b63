// Search field above a list that is longer than a glance. It filters by the words of the field, in
// any order and case.
import { type ReactNode, useState } from 'react';
import { texts } from '../texts.js';
import { hasWords } from './has-words.js';
import style from './search-field.module.css';

/** So many items are seen at a glance, without a search. */
const GLANCE_MAX = 12;

interface Search<T> {
  readonly found: readonly T[];
  /** The field, and below it a note when nothing is found. Null for a short list. */
  readonly field: ReactNode;
}

/** `name` is the accessible name of the field. */
export function useSearch<T>(items: readonly T[], textOf: (item: T) => string, name: string): Search<T> {
  const [words, setWords] = useState('');
  if (items.length <= GLANCE_MAX) return { found: items, field: null };
  const found = items.filter((item) => hasWords(textOf(item), words));
  const field = (
    <>
      <input
        className={`field ${style.search}`}
        type="search"
        aria-label={name}
        placeholder={name}
        autoComplete="off"
        value={words}
        onChange={({ target }) => setWords(target.value)}
      />
      <p role="status" className={style.none}>
        {found.length === 0 && texts.noneFound}
      </p>
    </>
  );
  return { found, field };
}
