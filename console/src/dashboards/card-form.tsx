// The form of a card. It changes the card's own part of the text, or moves it; what it cannot say
// stays in the text.
import { useState } from 'react';
import { QueryField } from '../ask/query-field.js';
import { kindOfCard } from '../ask/share.js';
import { dashboardsTexts } from '../texts/dashboards.js';
import type { CardMove, CardQuery, Draft, DraftCard, Edit } from './api.js';
import { CardQueries } from './card-queries.js';
import editing from './editing.module.css';
import { FormDialog } from './form-dialog.js';

const words = dashboardsTexts.form;

interface Props {
  readonly projectId: string;
  readonly timezone: string;
  /** Undefined for a new card. */
  readonly card: DraftCard | undefined;
  readonly section: number | undefined;
  readonly sections: Draft['sections'];
  /** Why the change was refused. */
  readonly failure: string | undefined;
  readonly apply: (edit: Edit) => Promise<void>;
  readonly close: () => void;
}

type Content = keyof typeof words.contents;

const contentOf = (card: DraftCard | undefined): Content =>
  card?.has_queries === true ? 'queries' : card?.markdown !== undefined ? 'markdown' : 'query';

/** Rows of a card that had no layout; cards are as high as what they show. */
const ROWS = 4;

export function CardForm({ projectId, timezone, card, section, sections, failure, apply, close }: Props) {
  const [content, setContent] = useState(contentOf(card));
  const [query, setQuery] = useState(card?.query ?? '');
  const [queries, setQueries] = useState<readonly CardQuery[]>(card?.queries ?? [{ name: '', query: '' }]);
  const [viz, setViz] = useState(card?.viz);
  const first = content === 'queries' ? (queries[0]?.query ?? '') : query;
  const suggested = content === 'markdown' ? { kind: 'markdown', viz: 'markdown' } : kindOfCard(first);
  const shape = content === 'markdown' ? 'markdown' : (viz ?? suggested.viz);
  const before = card?.has_queries === true ? card.queries?.[0]?.query : card?.query;
  const edit = (form: FormData): Edit => {
    const width = Number(form.get('width'));
    const change = {
      title: String(form.get('title')).trim(),
      kind: card?.kind !== undefined && first === before ? card.kind : suggested.kind,
      viz: shape,
      ...(content === 'query' && { query: query.trim() }),
      ...(content === 'queries' && { queries: queries.map((each) => ({ ...each, query: each.query.trim() })) }),
      ...(content === 'markdown' && { markdown: String(form.get('markdown')) }),
      ...(card !== undefined && content === 'queries' && !card.has_queries && { query: null }),
      layout: width === 0 ? null : { w: width, h: card?.layout?.h ?? ROWS },
    };
    if (card === undefined) return { card: { ...change, ...(section !== undefined && { section }) } };
    const move = moveOf(card, sections, form);
    return { card: { ...change, id: card.id }, ...(move && { move }) };
  };
  const name = card === undefined ? dashboardsTexts.newCard : dashboardsTexts.editCard(card.title ?? card.id);
  const isComplete =
    content === 'markdown' || (content === 'query' ? [{ query }] : queries).every((each) => each.query.trim() !== '');
  const canChoose = card === undefined || content !== 'markdown';
  return (
    <FormDialog
      name={name}
      failure={failure}
      apply={(form) => apply(edit(form))}
      canApply={isComplete}
      removeLabel={words.remove}
      remove={card && (() => apply({ remove: card.id }))}
      close={close}
    >
      <label>
        {words.title}
        <input className="field" name="title" required maxLength={200} defaultValue={card?.title ?? ''} />
      </label>
      {canChoose && card?.has_queries !== true && (
        <label>
          {words.content}
          <select
            className="field"
            value={content}
            onChange={({ target }) => {
              const chosen = target.value as Content;
              if (chosen === 'queries' && query !== '') setQueries([{ name: card?.title ?? '', query }]);
              setContent(chosen);
            }}
          >
            {Object.entries(words.contents)
              .filter(([each]) => card === undefined || each !== 'markdown')
              .map(([each, label]) => (
                <option key={each} value={each}>
                  {label}
                </option>
              ))}
          </select>
        </label>
      )}
      {content === 'queries' && (
        <CardQueries projectId={projectId} timezone={timezone} queries={queries} change={setQueries} />
      )}
      {content === 'markdown' && (
        <label>
          {words.markdown}
          <textarea
            className={`field ${editing.markdown}`}
            name="markdown"
            required
            defaultValue={card?.markdown}
            rows={8}
          />
        </label>
      )}
      {content === 'query' && (
        <div>
          <span className={editing.label}>{words.query}</span>
          <div className={editing.query}>
            <QueryField
              projectId={projectId}
              timezone={timezone}
              value={query}
              onChange={setQuery}
              onRun={NOTHING}
              apply={setQuery}
              rejected={NONE}
              isTemplate
            />
          </div>
          <p className="muted">{words.queryNote}</p>
        </div>
      )}
      <div className={editing.pair}>
        {content !== 'markdown' && (
          <label>
            {words.shape}
            <select className="field" value={shape} onChange={({ target }) => setViz(target.value)}>
              {Object.entries(words.shapes)
                .filter(([each]) => each !== 'markdown')
                .map(([each, label]) => (
                  <option key={each} value={each}>
                    {label}
                  </option>
                ))}
            </select>
          </label>
        )}
        <Width width={card?.layout?.w} />
      </div>
      {card !== undefined && <Place card={card} sections={sections} />}
    </FormDialog>
  );
}

/** Section and index of a card. */
const placeOf = ({ id }: DraftCard, sections: Draft['sections']): readonly [section: number, index: number] => {
  const section = sections.findIndex(({ cards }) => cards.some((each) => each.id === id));
  return [section, sections[section]?.cards.findIndex((each) => each.id === id) ?? 0];
};

/** Undefined when the card stays where it is. */
function moveOf(card: DraftCard, sections: Draft['sections'], form: FormData): CardMove | undefined {
  const [section, index] = [Number(form.get('section')), Number(form.get('place'))];
  const [before, at] = placeOf(card, sections);
  return section === before && index === at ? undefined : { card: card.id, section, index };
}

/** Where the card stands: its section, and behind which of the others. */
function Place({ card, sections }: { readonly card: DraftCard; readonly sections: Draft['sections'] }) {
  const [before, at] = placeOf(card, sections);
  const [section, setSection] = useState(before);
  const others = sections[section]?.cards.filter(({ id }) => id !== card.id) ?? [];
  return (
    <div className={editing.pair}>
      <label>
        {words.section}
        <select
          className="field"
          name="section"
          value={section}
          onChange={({ target }) => setSection(Number(target.value))}
        >
          {sections.map(({ title }, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: sections are told by their places
            <option key={index} value={index}>
              {title}
            </option>
          ))}
        </select>
      </label>
      <label>
        {words.place}
        <select key={section} className="field" name="place" defaultValue={section === before ? at : others.length}>
          <option value={0}>{words.firstPlace}</option>
          {others.map(({ id, title }, index) => (
            <option key={id} value={index + 1}>
              {words.after(title ?? id)}
            </option>
          ))}
        </select>
      </label>
    </div>
  );
}

function Width({ width }: { readonly width: number | undefined }) {
  const known: Readonly<Record<number, string>> = words.widths;
  const all = [...new Set([...Object.keys(known).map(Number), ...(width === undefined ? [] : [width])])];
  return (
    <label>
      {words.width}
      <select className="field" name="width" defaultValue={width ?? 0}>
        <option value={0}>{words.automatic}</option>
        {all
          .sort((a, b) => a - b)
          .map((columns) => (
            <option key={columns} value={columns}>
              {known[columns] ?? words.columns(columns)}
            </option>
          ))}
      </select>
    </label>
  );
}

const NONE: readonly never[] = [];
const NOTHING = (): void => {};
