// Underlines the problems of the text.
import { StateEffect, StateField, type TransactionSpec } from '@codemirror/state';
import { Decoration, type DecorationSet, EditorView } from '@codemirror/view';
import type { Problem } from '../language/language.js';

const setProblems = StateEffect.define<readonly Problem[]>();

export const markProblems = (problems: readonly Problem[]): TransactionSpec => ({ effects: setProblems.of(problems) });

const toMarks = (problems: readonly Problem[], length: number): DecorationSet =>
  Decoration.set(
    problems
      // A problem at the end of the text has no character to underline: the one before is.
      .map(({ span, message }) => {
        const to = Math.min(length, Math.max(span.to, span.from + 1));
        return { from: Math.max(0, Math.min(span.from, to - 1)), to, message };
      })
      .filter(({ from, to }) => from < to)
      .map(({ from, to, message }) =>
        Decoration.mark({ class: 'problem', attributes: { title: message } }).range(from, to),
      ),
    true,
  );

export const problemMarks = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(marks, transaction) {
    let now = marks.map(transaction.changes);
    for (const effect of transaction.effects) {
      if (effect.is(setProblems)) now = toMarks(effect.value, transaction.state.doc.length);
    }
    return now;
  },
  provide: (field) => EditorView.decorations.from(field),
});
