// A text as one YAML 1.2 document: what is refused here is refused because of how it is written, whatever it says.
import { Composer, type CST, type Document, Parser, type YAMLError } from 'yaml';

/** A dashboard needs eight. Composing thousands would end the process, not only the request: the library calls itself. */
const DEPTH_MAX = 32;

/** A problem at an offset of the text. */
export interface Misspelling {
  readonly offset: number;
  readonly message: string;
  readonly hint: string;
}

export interface ComposedDocument {
  /** Undefined when there is nothing to look at. With misspellings, its structure is a guess. */
  readonly document: Document.Parsed | undefined;
  readonly misspellings: readonly Misspelling[];
}

export function composeDocument(source: string): ComposedDocument {
  const tokens = [...new Parser().parse(source)];
  if (tokens.some((token) => depthOf(token) > DEPTH_MAX)) {
    const message = `the document is nested deeper than ${DEPTH_MAX} levels`;
    return { document: undefined, misspellings: [{ offset: 0, message, hint: 'a dashboard needs eight levels' }] };
  }
  const composer = new Composer({
    version: '1.2',
    strict: true,
    stringKeys: true,
    // Repeated keys are looked for later, where both places are known.
    uniqueKeys: false,
    merge: false,
    logLevel: 'silent',
  });
  const [document, second] = composer.compose(tokens, false, source.length);
  if (document === undefined || document.contents === null) {
    const empty = { offset: 0, message: 'the document is empty', hint: 'it starts with: version: 1' };
    return { document: undefined, misspellings: [empty] };
  }
  const misspellings = findMisspellings(document, second);
  const nul = source.indexOf('\0');
  if (nul >= 0) misspellings.push({ offset: nul, message: 'the document has a NUL character', hint: 'leave it out' });
  return { document, misspellings };
}

function findMisspellings(document: Document.Parsed, second: Document.Parsed | undefined): Misspelling[] {
  const found = document.errors.map(toMisspelling);
  if (second !== undefined) {
    const offset = second.range[0];
    found.push({ offset, message: 'a second document begins', hint: 'a dashboard is one document; leave out "---"' });
  }
  const { explicit, version } = document.directives.yaml;
  if (explicit && version !== '1.2') {
    found.push({ offset: 0, message: `YAML ${version} is asked for`, hint: 'the document is YAML 1.2' });
  }
  return found;
}

const toMisspelling = ({ pos, message }: YAMLError): Misspelling => ({
  offset: pos[0],
  message: `this is not YAML: ${message.charAt(0).toLowerCase()}${message.slice(1)}`,
  hint: 'text that holds ": " or "#", or starts with a sign, goes in quotes; levels are indented with blanks',
});

type Token = CST.Token | null | undefined;

function depthOf(root: CST.Token): number {
  let deepest = 0;
  const waiting: { token: Token; depth: number }[] = [{ token: root, depth: 0 }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { token, depth } = next;
    if (!token) continue;
    deepest = Math.max(deepest, depth);
    if (token.type === 'document') waiting.push({ token: token.value, depth });
    if (!('items' in token)) continue;
    for (const { key, value } of token.items) {
      waiting.push({ token: key, depth: depth + 1 }, { token: value, depth: depth + 1 });
    }
  }
  return deepest;
}
