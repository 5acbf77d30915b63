// Applies the fixes of an answer to the text that it is about.
import type { TextFix } from '../../src/query/errors.js';

/** The text with all fixes, from the last one on, so that the places of the others stay right. */
export function applyFixes(text: string, problems: readonly { readonly fix?: TextFix }[]): string {
  const lines = text.split('\n');
  const charactersBefore = (line: number) =>
    lines.slice(0, line - 1).reduce((sum, each) => sum + [...each].length + 1, 0);
  return problems
    .flatMap(({ fix }) => (fix ? [{ ...fix, from: charactersBefore(fix.line) + fix.column - 1 }] : []))
    .sort((a, b) => b.from - a.from)
    .reduce((so, fix) => so.toSpliced(fix.from, fix.length, ...fix.text), [...text])
    .join('');
}
