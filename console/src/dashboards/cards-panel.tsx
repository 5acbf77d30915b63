// The cards of a text that is being edited: each opens its form, or its place in the text.
import { Icon } from '../shell/icon.js';
import { texts } from '../texts.js';
import type { Draft, DraftCard } from './api.js';
import editing from './editing.module.css';

interface Props {
  readonly sections: Draft['sections'];
  readonly edit: (card: DraftCard) => void;
  readonly add: (section: number) => void;
  readonly goTo: (card: DraftCard) => void;
}

export function CardsPanel({ sections, edit, add, goTo }: Props) {
  return (
    <section className={`card ${editing.panel}`} aria-labelledby="cards">
      <h2 id="cards">{texts.dashboards.cards}</h2>
      {sections.length === 0 && <p className="muted">{texts.dashboards.noCards}</p>}
      {sections.map(({ title, cards }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: sections are told by their places
        <section key={index} aria-label={title}>
          <h3>{title}</h3>
          <ul>
            {cards.map((card) => (
              <li key={card.id}>
                <button
                  type="button"
                  className={editing.cardName}
                  aria-label={texts.dashboards.editCard(card.title ?? card.id)}
                  onClick={() => edit(card)}
                >
                  <Icon name="edit" size={14} />
                  {card.title ?? card.id}
                </button>
                <button
                  type="button"
                  className={editing.lineNumber}
                  aria-label={texts.dashboards.goToLine(card.title ?? card.id, card.line)}
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
            aria-label={texts.dashboards.addCardTo(title)}
            onClick={() => add(index)}
          >
            <Icon name="add" size={14} />
            {texts.dashboards.addCard}
          </button>
        </section>
      ))}
    </section>
  );
}
