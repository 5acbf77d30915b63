// An agent without a model. It repairs a query with nothing but what the tool check says: it
// applies each fix, and puts the nearest name of a warning in place of the wrong one.

export interface Checked {
  readonly text: string;
  readonly isError: boolean;
}

interface Place {
  readonly line: number;
  readonly column: number;
  readonly length: number;
}

interface Detail extends Place {
  readonly hint: string;
  readonly fix?: Place & { readonly text: string };
}

export interface Repair {
  /** Clean: the last call found nothing to repair. */
  readonly q: string;
  /** Calls of check, the last of which said nothing more. */
  readonly calls: number;
  readonly isClean: boolean;
}

export async function repair(
  written: string,
  { check, callsMax }: { readonly check: (q: string) => Promise<Checked>; readonly callsMax: number },
): Promise<Repair> {
  let q = written;
  for (let calls = 1; calls <= callsMax; calls++) {
    const { text, isError } = await check(q);
    const said = JSON.parse(text) as { details?: readonly Detail[]; warnings?: readonly string[] };
    const better = isError ? applyFixes(q, said.details ?? []) : applyWarnings(q, said.warnings ?? []);
    if (!isError && better === q) return { q, calls, isClean: true };
    if (better === q) return { q, calls, isClean: false };
    q = better;
  }
  return { q, calls: callsMax, isClean: false };
}

/** From the last one on, so that the places of the others stay right. */
function applyFixes(q: string, details: readonly Detail[]): string {
  const lines = q.split('\n').map((line) => [...line]);
  const fixes = details.flatMap((detail) => detail.fix ?? nearestOf(detail));
  for (const { line, column, length, text } of [...fixes].sort((a, b) => b.line - a.line || b.column - a.column)) {
    lines[line - 1]?.splice(column - 1, length, ...text);
  }
  return lines.map((line) => line.join('')).join('\n');
}

/** A problem without a fix may name what is meant. */
function nearestOf({ line, column, length, hint }: Detail): (Place & { readonly text: string })[] {
  const [, text] = /did you mean "?([\w.]+)"?/.exec(hint) ?? [];
  return text === undefined ? [] : [{ line, column, length, text }];
}

const UNSEEN = /^no event "(?<name>.+)" in this project; nearest: "(?<nearest>.+)"$/;
const UNSEEN_KEY = /has "(?<name>.+)"; nearest: "(?<nearest>.+)"$/;
const UNSEEN_VALUE = /is never "(?<name>.+)"; (?:nearest:|values are codes such as) "(?<nearest>.+)"$/;

function applyWarnings(q: string, warnings: readonly string[]): string {
  return warnings.reduce((text, warning) => {
    const { name, nearest } =
      (UNSEEN.exec(warning) ?? UNSEEN_KEY.exec(warning) ?? UNSEEN_VALUE.exec(warning))?.groups ?? {};
    if (name === undefined || nearest === undefined) return text;
    const isKey = UNSEEN_KEY.test(warning);
    return isKey ? text.replace(name, name.slice(0, name.indexOf('.') + 1) + nearest) : text.replaceAll(name, nearest);
  }, q);
}
