// The line of an alert or a report in the text of a dashboard, as far as it can be found without a
// parser of YAML, which the console does not load.

/** A list of the document and the id of one of its items: `alerts.low`. */
export type ItemPlace = `${'alerts' | 'reports'}.${string}`;

/** From 1; that of the list where the id is not found, undefined where there is no list. */
export function lineOfItem(source: string, place: string): number | undefined {
  const [list = '', id] = place.split('.');
  const lines = source.split('\n');
  const start = lines.findIndex((line) => /^\s*["']?(\w+)["']?\s*:/.exec(line)?.[1] === list);
  if (start < 0) return undefined;
  const at = lines.findIndex((line, index) => {
    const [, found] = /(?:^\s*-?\s*|[{,]\s*)["']?id["']?\s*:\s*["']?([\w-]+)/.exec(line) ?? [];
    return index >= start && found === id;
  });
  return (at < 0 ? start : at) + 1;
}
