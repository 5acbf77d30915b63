// The editor of a query: CodeMirror with the grammar of the service. It lives in a shadow root,
// where its styles are style sheets of scripts, which the Content-Security-Policy allows; in the
// page they would be style elements.
import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { Annotation, EditorSelection, EditorState, Prec } from '@codemirror/state';
import { drawSelection, EditorView, keymap, placeholder } from '@codemirror/view';
import type { Names } from '../api/answer.js';
import { check, loadFixes, type Problem, type Span, setDefinitions } from '../language/language.js';
import { loadPatterns } from '../language/patterns.js';
import { texts } from '../texts.js';
import { completionSource } from './completion.js';
import { colouring } from './language-support.js';
import { markProblems, problemMarks } from './problem-marks.js';
import { theme } from './theme.js';

export interface Editor {
  setText(text: string): void;
  setNames(names: Names | undefined): void;
  replace(span: Span, text: string): void;
  select(span: Span): void;
  checkAgain(): void;
  focus(): void;
  destroy(): void;
}

export interface EditorOptions {
  readonly text: string;
  readonly selection: readonly [number, number] | undefined;
  readonly hasFocus: boolean;
  readonly timezone: () => string;
  /** The query in the text: of the same length, without placeholders of a dashboard. */
  readonly toQuery: (text: string) => string;
  readonly onChange: (text: string) => void;
  readonly onRun: () => void;
  readonly onProblems: (problems: readonly Problem[]) => void;
}

/** While a word is typed it is not judged; after this rest, or elsewhere in the text, it is. */
const REST_MS = 400;

/** Marks a change by `setText`, which the caller knows about. */
const isSet = Annotation.define<boolean>();

export function createEditor(host: HTMLElement, options: EditorOptions): Editor {
  let names: Names | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' });
  root.replaceChildren();

  const judge = (state: EditorState): void => {
    const problems = check(options.toQuery(state.doc.toString()), options.timezone());
    view.dispatch(markProblems(problems));
    options.onProblems(problems);
  };
  const judgeText = async (): Promise<void> => {
    judge(view.state);
    if (!view.state.doc.toString().includes('~')) return;
    // Without RE2 the service is the one that judges expressions.
    await loadPatterns().then(
      () => judge(view.state),
      () => {},
    );
  };
  const view = new EditorView({
    root,
    parent: root as unknown as Element,
    state: EditorState.create({
      doc: options.text,
      extensions: [
        Prec.highest(
          keymap.of([
            {
              key: 'Mod-Enter',
              run: () => {
                options.onRun();
                return true;
              },
            },
          ]),
        ),
        history(),
        drawSelection(),
        closeBrackets(),
        colouring,
        autocompletion({ override: [completionSource(() => names)], icons: false }),
        keymap.of([...closeBracketsKeymap, ...completionKeymap, ...historyKeymap, ...defaultKeymap]),
        replacing,
        placeholder(texts.ask.placeholder),
        EditorView.lineWrapping,
        EditorView.contentAttributes.of({ 'aria-label': texts.ask.query, spellcheck: 'false', autocapitalize: 'off' }),
        problemMarks,
        theme,
        EditorView.updateListener.of((update) => {
          if (!update.docChanged) return;
          if (!update.transactions.some((transaction) => transaction.annotation(isSet))) {
            options.onChange(update.state.doc.toString());
          }
          clearTimeout(timer);
          timer = setTimeout(() => void judgeText(), isWordOpen(update.state) ? REST_MS : 0);
        }),
      ],
    }),
  });
  if (options.selection !== undefined) {
    const [anchor, head] = options.selection;
    view.dispatch({ selection: EditorSelection.single(anchor, head) });
  }
  if (options.hasFocus) setTimeout(() => view.focus());
  void judgeText();
  // Behind the editor, so that it is drawn sooner. Without them problems have no repairs.
  loadFixes().then(
    () => judge(view.state),
    () => {},
  );

  return {
    setText(text) {
      if (text === view.state.doc.toString()) return;
      const changes = { from: 0, to: view.state.doc.length, insert: text };
      view.dispatch({ changes, annotations: isSet.of(true) });
    },
    setNames(known) {
      names = known;
      setDefinitions(known?.definitions ?? []);
      if (known !== undefined) void judgeText();
    },
    replace({ from, to }, text) {
      view.dispatch({
        changes: { from, to, insert: text },
        selection: { anchor: from + text.length },
        userEvent: 'input',
      });
      view.focus();
    },
    select({ from, to }) {
      view.dispatch({ selection: { anchor: from, head: to }, scrollIntoView: true });
      view.focus();
    },
    checkAgain: () => void judgeText(),
    focus: () => view.focus(),
    destroy() {
      clearTimeout(timer);
      view.destroy();
    },
  };
}

/** Types over a selection. The browser would style the new text, which the policy forbids. */
const replacing = EditorView.domEventHandlers({
  beforeinput({ inputType, data, isComposing }, view) {
    const { from, to, empty } = view.state.selection.main;
    if (empty || inputType !== 'insertText' || data === null || isComposing) return false;
    const insert = () =>
      view.state.update(view.state.replaceSelection(data), { userEvent: 'input.type', scrollIntoView: true });
    const handlers = view.state.facet(EditorView.inputHandler);
    if (!handlers.some((handle) => handle(view, from, to, data, insert))) view.dispatch(insert());
    return true;
  },
});

/** Whether the cursor is at the end of a word, which is perhaps not complete. */
function isWordOpen(state: EditorState): boolean {
  const { head } = state.selection.main;
  return /[\w.]$/.test(state.sliceDoc(Math.max(0, head - 1), head));
}
