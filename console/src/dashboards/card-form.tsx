// The form of a card. It changes the card's own part of the text, or moves it; what it cannot say
// stays in the text.
import { useState } from 'react';
import { kindOfCard } from '../ask/share.js';
import { textOf, useKeptFields } from '../shell/kept-fields.js';
import { dashboardsTexts } from '../texts/dashboards.js';
import type { CardMove, CardQuery, Draft, DraftCard, Edit } from './api.js';
import { CardQueries } from './card-queries.js';
import editing from './editing.module.css';
import { CardQueryField, LabelledSelect } from './fields.js';
import { FormDialog } from './form-dialog.js';

const words = dashboardsTexts.form;

interface Props {
  readonly projectId: string;
  readonly timezone: string;
  /** Undefined for a new card. */
  readonly card: DraftCard | undefined;
  readonly section: number | undefined;
  readonly sections: Draft['sections'];
  readonly formName: string;
  /** Why the change was refused. */
  readonly failure: string | undefined;
  readonly apply: (edit: Edit) => Promise<void>;
  readonly close: () => void;
}

type Content = keyof typeof words.contents;

const contentOf = (card: DraftCard | undefined): Content =>
  card?.has_queries === true ? 'queries' : card?.markdown !== undefined ? 'markdown' : 'query';

const queriesOf = (card: DraftCard | undefined, kept: string | undefined): readonly CardQuery[] =>
  kept === undefined ? (card?.queries ?? [{ name: '', query: '' }]) : JSON.parse(kept);

/** Rows of a card that had no layout; cards are as high as what they show. */
const ROWS = 4;

/** Width 0 is that of the kind of drawing. */
function layoutOf(before: DraftCard['layout'], width: number): DraftCard['layout'] | null {
  if (width === (before?.w ?? 0)) return before ?? null;
  if (width > 0) return before === undefined ? { w: width, h: ROWS } : { ...before, w: width };
  return before?.h === undefined ? null : { h: before.h };
}

export function CardForm({ projectId, timezone, card, section, sections, formName, failure, apply, close }: Props) {
  const fields = useKeptFields(formName);
  const { kept } = fields;
  const [content, setContent] = useState((textOf(kept.content) as Content | undefined) ?? contentOf(card));
  const [query, setQuery] = useState(textOf(kept.query) ?? card?.query ?? '');
  const [queries, setQueries] = useState(() => queriesOf(card, textOf(kept.queries)));
  const [viz, setViz] = useState(textOf(kept.viz) || card?.viz);
  const first = content === 'queries' ? (queries[0]?.query ?? '') : query;
  const suggested = content === 'markdown' ? { kind: 'markdown', viz: 'markdown' } : kindOfCard(first);
  const shape = content === 'markdown' ? 'markdown' : (viz ?? suggested.viz);
  const before = card?.has_queries === true ? card.queries?.[0]?.query : card?.query;
  // Blanks at the end of a text that is there stay: a block of YAML ends with a line break.
  const trimmed = (text: string): string => (card === undefined ? text.trim() : text);
  const edit = (form: FormData): Edit => {
    const width = Number(form.get('width'));
    const change = {
      title: String(form.get('title')).trim(),
      kind: card?.kind !== undefined && first === before ? card.kind : suggested.kind,
      viz: shape,
      ...(content === 'query' && { query: trimmed(query) }),
      ...(content === 'queries' && { queries: queries.map((each) => ({ ...each, query: trimmed(each.query) })) }),
      ...(content === 'markdown' && { markdown: String(form.get('markdown')) }),
      ...(card !== undefined && content === 'queries' && !card.has_queries && { query: null }),
      layout: layoutOf(card?.layout, width),
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
      fields={fields}
      failure={failure}
      apply={(form) => apply(edit(form))}
      canApply={isComplete}
      removeLabel={words.remove}
      remove={card && (() => apply({ remove: card.id }))}
      close={close}
    >
      <input type="hidden" name="viz" value={viz ?? ''} />
      <input type="hidden" name="query" value={query} />
      <input type="hidden" name="queries" value={JSON.stringify(queries)} />
      <label>
        {words.title}
        <input className="field" name="title" required maxLength={200} defaultValue={card?.title ?? ''} />
      </label>
      {canChoose && card?.has_queries !== true && (
        <LabelledSelect
          label={words.content}
          name="content"
          value={content}
          options={Object.entries(words.contents).filter(([each]) => card === undefined || each !== 'markdown')}
          choose={(value) => {
            const chosen = value as Content;
            if (chosen === 'queries' && query !== '') setQueries([{ name: card?.title ?? '', query }]);
            setContent(chosen);
          }}
        />
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
          <CardQueryField projectId={projectId} timezone={timezone} value={query} change={setQuery} />
          <p className="muted">{words.queryNote}</p>
        </div>
      )}
      <div className={editing.pair}>
        {content !== 'markdown' && (
          <LabelledSelect
            label={words.shape}
            value={shape}
            options={Object.entries(words.shapes).filter(([each]) => each !== 'markdown')}
            choose={setViz}
          />
        )}
        <Width width={card?.layout?.w} />
      </div>
      {card !== undefined && <Place card={card} sections={sections} keptSection={textOf(kept.section)} />}
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

interface PlaceProps {
  readonly card: DraftCard;
  readonly sections: Draft['sections'];
  readonly keptSection: string | undefined;
}

/** Where the card stands: its section, and behind which of the others. */
function Place({ card, sections, keptSection }: PlaceProps) {
  const [before, at] = placeOf(card, sections);
  const kept = Number(keptSection);
  const [section, setSection] = useState(sections[kept] === undefined ? before : kept);
  const others = sections[section]?.cards.filter(({ id }) => id !== card.id) ?? [];
  return (
    <div className={editing.pair}>
      <LabelledSelect
        label={words.section}
        name="section"
        value={section}
        options={sections.map(({ title }, index) => [index, title])}
        choose={(value) => setSection(Number(value))}
      />
      <LabelledSelect
        key={section}
        label={words.place}
        name="place"
        defaultValue={section === before ? at : others.length}
        options={[
          [0, words.firstPlace],
          ...others.map(({ id, title }, index) => [index + 1, words.after(title ?? id)] as const),
        ]}
      />
    </div>
  );
}

function Width({ width }: { readonly width: number | undefined }) {
  const known: Readonly<Record<number, string>> = words.widths;
  const all = [...new Set([...Object.keys(known).map(Number), ...(width === undefined ? [] : [width])])];
  return (
    <LabelledSelect
      label={words.width}
      name="width"
      defaultValue={width ?? 0}
      options={[
        [0, words.automatic],
        ...all.sort((a, b) => a - b).map((columns) => [columns, known[columns] ?? words.columns(columns)] as const),
      ]}
    />
  );
}
