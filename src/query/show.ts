// Pretty-prints the compiler's intermediate forms for `explain`, without spans.

const LINE_WIDTH = 110;

/** Spans are omitted: they lengthen every line and carry no meaning. */
const isHidden = (key: string, value: unknown): boolean => key === 'span' || value === undefined;

export function show(form: unknown, indent = ''): string {
  const line = showLine(form);
  if (indent.length + line.length <= LINE_WIDTH || typeof form !== 'object' || form === null) return line;
  const deeper = `${indent}  `;
  if (Array.isArray(form)) {
    return `[\n${form.map((item) => `${deeper}${show(item, deeper)}\n`).join('')}${indent}]`;
  }
  const fields = visibleEntries(form).map(([key, value]) => `${deeper}${key}: ${show(value, deeper)}\n`);
  return `{\n${fields.join('')}${indent}}`;
}

const visibleEntries = (form: object): [string, unknown][] =>
  Object.entries(form).filter(([key, value]) => !isHidden(key, value));

function showLine(form: unknown): string {
  if (typeof form !== 'object' || form === null) return JSON.stringify(form) ?? String(form);
  if (Array.isArray(form)) return `[${form.map(showLine).join(', ')}]`;
  return `{ ${visibleEntries(form)
    .map(([key, value]) => `${key}: ${showLine(value)}`)
    .join(', ')} }`;
}
