// The sections, cards and variables of a text that is being edited: each opens its form, and a card
// its place in the text.
import { Icon } from '../shell/icon.js';
import { dashboardsTexts } from '../texts/dashboards.js';
import { texts } from '../texts.js';
import type { Draft, DraftCard } from './api.js';
import editing from './editing.module.css';

/** A form; without the thing that it is about, it is that of a new one. */
export type OpenForm =
  | { readonly kind: 'card'; readonly id?: string; readonly section?: number }
  | { readonly kind: 'section'; readonly index?: number }
  | { readonly kind: 'variable'; readonly name?: string };

interface Props {
  /** Whether the sections and variables are known. */
  readonly isRead: boolean;
  readonly sections: Draft['sections'];
  readonly variables: Draft['variables'];
  readonly open: (form: OpenForm) => void;
  readonly goTo: (card: DraftCard) => void;
}

/** Its buttons appear with what is read, which would move them from under the pointer. */
export function CardsPanel({ isRead, ...content }: Props) {
  return (
    <section className={`card ${editing.panel}`} aria-labelledby="cards">
      <h2 id="cards">{dashboardsTexts.cards}</h2>
      {isRead ? <Content {...content} /> : <p className="muted">{texts.loading}</p>}
    </section>
  );
}

function Content({ sections, variables, open, goTo }: Omit<Props, 'isRead'>) {
  return (
    <>
      {sections.length === 0 && <p className="muted">{dashboardsTexts.noCards}</p>}
      {sections.map(({ title, cards }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: sections are told by their places
        <section key={index} aria-label={title}>
          <h3>
            <button
              type="button"
              className={editing.cardName}
              aria-label={dashboardsTexts.editSection(title)}
              onClick={() => open({ kind: 'section', index })}
            >
              {title}
              <Icon name="edit" size={14} />
            </button>
          </h3>
          <ul>
            {cards.map((card) => (
              <li key={card.id}>
                <button
                  type="button"
                  className={editing.cardName}
                  aria-label={dashboardsTexts.editCard(card.title ?? card.id)}
                  onClick={() => open({ kind: 'card', id: card.id })}
                >
                  <Icon name="edit" size={14} />
                  {card.title ?? card.id}
                </button>
                <button
                  type="button"
                  className={editing.lineNumber}
                  aria-label={dashboardsTexts.goToLine(card.title ?? card.id, card.line)}
                  onClick={() => goTo(card)}
                >
                  {card.line}
                </button>
              </li>
            ))}
          </ul>
          <button
            type="button"
            className="button small"
            aria-label={dashboardsTexts.addCardTo(title)}
            onClick={() => open({ kind: 'card', section: index })}
          >
            <Icon name="add" size={14} />
            {dashboardsTexts.addCard}
          </button>
        </section>
      ))}
      <Add text={dashboardsTexts.addSection} add={() => open({ kind: 'section' })} />
      <section aria-labelledby="variables">
        <h2 id="variables">{dashboardsTexts.variables}</h2>
        <ul>
          {variables.map((variable) => (
            <li key={variable.name}>
              <button
                type="button"
                className={editing.cardName}
                aria-label={dashboardsTexts.editVariable(variable.name)}
                disabled={variable.variable === null}
                onClick={() => open({ kind: 'variable', name: variable.name })}
              >
                <Icon name="edit" size={14} />
                {variable.name}
              </button>
            </li>
          ))}
        </ul>
        <Add text={dashboardsTexts.addVariable} add={() => open({ kind: 'variable' })} />
      </section>
    </>
  );
}

function Add({ text, add }: { readonly text: string; readonly add: () => void }) {
  return (
    <button type="button" className={`button small ${editing.add}`} onClick={add}>
      <Icon name="add" size={14} />
      {text}
    </button>
  );
}
