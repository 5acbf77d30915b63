// The form of a card. It changes the card's own part of the text; what it cannot say stays in the
// text.
import { type FormEvent, useState } from 'react';
import { QueryField } from '../ask/query-field.js';
import { kindOfCard } from '../ask/share.js';
import { Dialog } from '../shell/dialog.js';
import { texts } from '../texts.js';
import type { CardChange, DraftCard } from './api.js';
import style from './dashboards.module.css';
import editing from './editing.module.css';

const words = texts.dashboards.form;

interface Props {
  readonly projectId: string;
  readonly timezone: string;
  /** Undefined for a new card. */
  readonly card: DraftCard | undefined;
  readonly section: number | undefined;
  /** Why the change was refused. */
  readonly failure: string | undefined;
  readonly apply: (change: CardChange) => Promise<void>;
  readonly remove: (() => Promise<void>) | undefined;
  readonly close: () => void;
}

type Content = 'query' | 'markdown' | 'queries';

const contentOf = (card: DraftCard | undefined): Content =>
  card?.has_queries === true ? 'queries' : card?.markdown !== undefined ? 'markdown' : 'query';

/** Rows of a card that had no layout; cards are as high as what they show. */
const ROWS = 4;

export function CardForm({ projectId, timezone, card, section, failure, apply, remove, close }: Props) {
  const [content, setContent] = useState(contentOf(card));
  const [query, setQuery] = useState(card?.query ?? '');
  const [viz, setViz] = useState(card?.viz);
  const [isBusy, setBusy] = useState(false);
  const suggested = content === 'markdown' ? { kind: 'markdown', viz: 'markdown' } : kindOfCard(query);
  const shape = content === 'markdown' ? 'markdown' : (viz ?? suggested.viz);
  const run = (act: () => Promise<void>): void => {
    setBusy(true);
    void act().finally(() => setBusy(false));
  };
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const width = Number(form.get('width'));
    const isSameQuery = card !== undefined && (content === 'queries' || query === card.query);
    run(() =>
      apply({
        ...(card === undefined ? section !== undefined && { section } : { id: card.id }),
        title: String(form.get('title')).trim(),
        kind: isSameQuery ? (card.kind ?? suggested.kind) : suggested.kind,
        viz: shape,
        ...(content === 'query' && { query: query.trim() }),
        ...(content === 'markdown' && { markdown: String(form.get('markdown')) }),
        layout: width === 0 ? null : { w: width, h: card?.layout?.h ?? ROWS },
      }),
    );
  };
  const name = card === undefined ? texts.dashboards.newCard : texts.dashboards.editCard(card.title ?? card.id);
  return (
    <Dialog name={name} close={close} className={`${style.dialog} ${editing.wide}`}>
      <form className={style.form} onSubmit={submit}>
        <h2>{name}</h2>
        <label>
          {words.title}
          <input className="field" name="title" required maxLength={200} defaultValue={card?.title ?? ''} autoFocus />
        </label>
        {card === undefined && (
          <label>
            {words.content}
            <select className="field" value={content} onChange={({ target }) => setContent(target.value as Content)}>
              <option value="query">{words.contents.query}</option>
              <option value="markdown">{words.contents.markdown}</option>
            </select>
          </label>
        )}
        {content === 'queries' && <p className="muted">{words.queries}</p>}
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
        {failure !== undefined && (
          <p role="alert" className={style.problem}>
            {failure}
          </p>
        )}
        <div className={style.tools}>
          {remove !== undefined && (
            <button
              type="button"
              className={`button danger ${editing.first}`}
              disabled={isBusy}
              onClick={() => run(remove)}
            >
              {words.remove}
            </button>
          )}
          <button type="button" className="button" onClick={close}>
            {texts.dashboards.cancel}
          </button>
          <button
            type="submit"
            className="button primary"
            disabled={isBusy || (content === 'query' && query.trim() === '')}
          >
            {words.apply}
          </button>
        </div>
      </form>
    </Dialog>
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
