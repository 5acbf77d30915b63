// What a click on a part of an answer asks next. It is loaded with the language, and undefined
// until then.
import { useEffect, useMemo, useState } from 'react';
import type { Answer } from '../api/answer.js';
import type { Sorted, Value } from '../language/refine.js';

export interface Refinements {
  /** Filters by all of the values. */
  readonly where: (values: readonly Value[]) => void;
  /** Whether `where` takes the values. */
  readonly isFilterable: (values: readonly Value[]) => boolean;
  /** Asks for another time range: its stage. */
  readonly narrow: (stage: string) => void;
  /** Lists the people behind a number: its stage. Undefined where the query does not take it. */
  readonly people: ((stage: string) => void) | undefined;
  /** Begins the paths with another event. */
  readonly anchor: (event: string) => void;
  readonly sort: (column: string) => void;
  readonly sorted: Sorted | undefined;
  /** Columns by which the answer can be sorted. */
  readonly sortable: ReadonlySet<string>;
}

/** Checking whether a longer text can be sorted by each column would be felt. */
const LENGTH_MAX = 4000;
const PEOPLE = { funnel: 'people at 1', retention: 'people at 1', lifecycle: 'people new' } as const;

type Language = typeof import('../language/refine.js') & typeof import('../language/language.js');

async function loadLanguage(): Promise<Language> {
  const [refine, language] = await Promise.all([import('../language/refine.js'), import('../language/language.js')]);
  return { ...refine, ...language };
}

export function useRefinements(
  answer: Answer | undefined,
  q: string,
  ask: (q: string) => void,
): Refinements | undefined {
  const [language, setLanguage] = useState<Language>();
  useEffect(() => {
    // Without its files the answer refines nothing.
    loadLanguage().then(setLanguage, () => {});
  }, []);
  const columns = JSON.stringify(answer?.columns ?? []);
  const mode = answer?.mode;
  return useMemo(() => {
    if (language === undefined || mode === undefined) return undefined;
    const { withFilters, filterableIn, withSort, withPeople, withAnchor, withTimeRange, sortedBy } = language;
    const askIf = (text: string | undefined): void => {
      if (text !== undefined) ask(text);
    };
    const isShort = q.length <= LENGTH_MAX;
    const names = JSON.parse(columns) as readonly string[];
    const example = PEOPLE[mode as keyof typeof PEOPLE];
    const takesPeople = isShort && example !== undefined && withPeople(q, example) !== undefined;
    return {
      where: (values) => askIf(withFilters(q, values)),
      isFilterable: filterableIn(q),
      narrow: (stage) => ask(withTimeRange(q, stage)),
      people: takesPeople ? (stage) => askIf(withPeople(q, stage)) : undefined,
      anchor: (event) => askIf(withAnchor(q, event)),
      sort: (column) => askIf(withSort(q, column)),
      sorted: sortedBy(q),
      sortable: new Set(isShort ? names.filter((name) => withSort(q, name) !== undefined) : []),
    };
  }, [language, mode, columns, q, ask]);
}
