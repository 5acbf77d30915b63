// The queries of a card that has several: each with its name, in their order.
import { dashboardsTexts } from '../texts/dashboards.js';
import type { CardQuery } from './api.js';
import editing from './editing.module.css';
import { CardQueryField } from './fields.js';

const words = dashboardsTexts.form;
const QUERIES_MAX = 10;

interface Props {
  readonly projectId: string;
  readonly timezone: string;
  readonly queries: readonly CardQuery[];
  readonly change: (queries: readonly CardQuery[]) => void;
}

export function CardQueries({ projectId, timezone, queries, change }: Props) {
  const set = (index: number, fields: Partial<CardQuery>): void =>
    change(queries.map((each, at) => (at === index ? { ...each, ...fields } : each)));
  return (
    <>
      {queries.map(({ name, query }, index) => (
        <fieldset
          // biome-ignore lint/suspicious/noArrayIndexKey: queries are told by their places, not by names that change
          key={index}
          className={editing.part}
        >
          <legend>{words.queryAt(index + 1)}</legend>
          <label>
            {words.queryName}
            <input
              className="field"
              required
              maxLength={200}
              value={name}
              onChange={({ target }) => set(index, { name: target.value })}
            />
          </label>
          <CardQueryField
            projectId={projectId}
            timezone={timezone}
            value={query}
            change={(text) => set(index, { query: text })}
          />
          {queries.length > 1 && (
            <button
              type="button"
              className="button small"
              onClick={() => change(queries.filter((_, at) => at !== index))}
            >
              {words.removeQuery(index + 1)}
            </button>
          )}
        </fieldset>
      ))}
      <button
        type="button"
        className="button small"
        disabled={queries.length >= QUERIES_MAX}
        onClick={() => change([...queries, { name: '', query: '' }])}
      >
        {words.addQuery}
      </button>
      <p className="muted">{words.queryNote}</p>
    </>
  );
}
