// Chips over the text of the query: each edits its own part of the text and leaves the rest alone.
// What no chip can edit is a chip that opens the text there.
import { useEffect, useMemo, useRef } from 'react';
import type { Names } from '../api/answer.js';
import { type Chip, type ChipKind, chipsOf, comparisonIn, type Insertion } from '../language/chips.js';
import { replaceSpan, type Span } from '../language/language.js';
import { Icon } from '../shell/icon.js';
import { Menu } from '../shell/menu.js';
import { chipTexts } from '../texts/chips.js';
import { ChipForm, type FormKind, KINDS } from './chip-forms.js';
import style from './chips-bar.module.css';

interface Props {
  readonly projectId: string;
  readonly text: string;
  readonly names: Names | undefined;
  /** Sets the text, and runs it. */
  readonly apply: (text: string) => void;
  /** Opens the text at the place. */
  readonly edit: (span: Span) => void;
}

export function ChipsBar({ projectId, text, names, apply, edit }: Props) {
  const read = useMemo(() => chipsOf(text), [text]);
  const compare = useMemo(() => comparisonIn(text), [text]);
  const list = useRef<HTMLUListElement>(null);
  /** Place of the last change, until it is drawn. */
  const changedAt = useRef<number>(undefined);
  // A button that is gone with the change had the focus: the chip of the change takes it.
  useEffect(() => {
    const at = changedAt.current;
    changedAt.current = undefined;
    if (at === undefined || read === undefined || document.activeElement !== document.body) return;
    const index = read.chips.findLastIndex(({ span }) => span.from <= at);
    list.current?.children[index]?.querySelector('button')?.focus();
  }, [read]);
  if (read === undefined || read.chips.length === 0) return null;
  const { chips } = read;
  const insertions: Readonly<Partial<Record<FormKind, Insertion | undefined>>> = { ...read.insertions, compare };
  const replace = (span: Span, by: string): void => {
    changedAt.current = span.from;
    apply(replaceSpan(text, span, by));
  };
  const insert = ({ at, before }: Insertion, added: string): void => {
    changedAt.current = at + before.length;
    apply(replaceSpan(text, { from: at, to: at }, `${before}${added}`));
  };
  return (
    <ul ref={list} className={style.chips} aria-label={chipTexts.label}>
      {chips.map((chip) => (
        <li key={`${chip.kind} ${chip.span.from}`}>
          {isForm(chip) ? (
            <Menu className={`button small ${style.chip}`} name={nameOf(chip)} label={<ChipLabel chip={chip} />}>
              {(close) => (
                <ChipForm
                  projectId={projectId}
                  kind={chip.kind}
                  chip={chip}
                  names={names}
                  apply={(written) => {
                    close();
                    replace(chip.span, written);
                  }}
                  move={(move) => {
                    close();
                    replace(move.span, move.text);
                  }}
                  remove={
                    chip.removal &&
                    (() => {
                      close();
                      replace(chip.removal ?? chip.span, '');
                    })
                  }
                />
              )}
            </Menu>
          ) : (
            <button
              type="button"
              className={`button small ${style.chip}`}
              aria-label={`${nameOf(chip)}${chipTexts.editAsText}`}
              onClick={() => edit(chip.span)}
            >
              <ChipLabel chip={chip} />
            </button>
          )}
        </li>
      ))}
      {KINDS.map((kind) => {
        const insertion = insertions[kind];
        return insertion === undefined ? null : (
          <li key={kind}>
            <Menu
              className={`button small plain ${style.add}`}
              name={chipTexts.add(chipTexts.kinds[kind])}
              label={
                <>
                  <Icon name="add" size={14} />
                  {chipTexts.kinds[kind]}
                </>
              }
            >
              {(close) => (
                <ChipForm
                  projectId={projectId}
                  kind={kind}
                  names={names}
                  apply={(written) => {
                    close();
                    insert(insertion, written);
                  }}
                />
              )}
            </Menu>
          </li>
        );
      })}
    </ul>
  );
}

const isForm = (chip: Chip): chip is Chip & { readonly kind: FormKind } =>
  (KINDS as readonly ChipKind[]).includes(chip.kind);

const nameOf = ({ kind, label }: Chip): string => `${chipTexts.kinds[kind]}: ${label}`;

function ChipLabel({ chip: { kind, label } }: { readonly chip: Chip }) {
  return (
    <>
      <span className={style.kind}>{chipTexts.kinds[kind]}</span> <span className={style.text}>{label}</span>
    </>
  );
}
