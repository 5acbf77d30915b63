// Looks of the editor, by the tokens of the page, which reach into shadow roots.
import { EditorView } from '@codemirror/view';

export const theme = EditorView.theme({
  '&': { color: 'var(--text)', fontSize: '0.9375rem' },
  '&.cm-focused': { outline: 'none' },
  '.cm-content': { padding: '0.6rem 0', fontFamily: 'var(--mono)', lineHeight: '1.6', caretColor: 'var(--text)' },
  '.cm-line': { padding: '0 0.7rem' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.6' },
  '.cm-cursor': { borderLeftColor: 'var(--text)', borderLeftWidth: '2px' },
  '.cm-placeholder': { color: 'var(--muted)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    background: 'var(--accent-soft)',
  },
  '.problem': {
    textDecoration: 'underline wavy var(--bad)',
    textDecorationSkipInk: 'none',
    textUnderlineOffset: '4px',
  },
  '.cm-tooltip.cm-tooltip-autocomplete': {
    overflow: 'hidden',
    border: '1px solid var(--line)',
    borderRadius: 'var(--radius)',
    background: 'var(--surface)',
    color: 'var(--text)',
    boxShadow: 'var(--shadow-raised)',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': {
    maxHeight: '17rem',
    minWidth: '15rem',
    padding: '0.25rem',
    fontFamily: 'var(--mono)',
    fontSize: '0.8125rem',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li': {
    display: 'flex',
    gap: '1rem',
    padding: '0.25rem 0.5rem',
    borderRadius: '0.3rem',
  },
  '.cm-completionLabel': { overflow: 'hidden', textOverflow: 'ellipsis' },
  // A finger needs more room than a pointer.
  '@media (pointer: coarse)': {
    '.cm-tooltip.cm-tooltip-autocomplete > ul > li': { alignItems: 'center', minHeight: '2.5rem' },
  },
  // The outline is seen in forced colours, which drop the ground.
  '.cm-tooltip-autocomplete ul li[aria-selected]': {
    background: 'var(--accent-soft)',
    color: 'var(--text)',
    outline: '2px solid transparent',
    outlineOffset: '-2px',
  },
  '.cm-completionMatchedText': { textDecoration: 'none', color: 'var(--accent)', fontWeight: '700' },
  '.cm-completionDetail': {
    marginLeft: 'auto',
    color: 'var(--muted)',
    fontStyle: 'normal',
    fontFamily: 'var(--sans)',
  },
});
