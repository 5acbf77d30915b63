// The line of an alert in the text of a dashboard, as far as it can be found without a parser of
// YAML, which the console does not load.

/** From 1; that of the list where the id is not found, undefined where there is no list. */
export function lineOfAlert(source: string, id: string): number | undefined {
  const lines = source.split('\n');
  const start = lines.findIndex((line) => /^\s*["']?alerts["']?\s*:/.test(line));
  if (start < 0) return undefined;
  const at = lines.findIndex((line, index) => {
    const [, found] = /(?:^\s*-?\s*|[{,]\s*)["']?id["']?\s*:\s*["']?([\w-]+)/.exec(line) ?? [];
    return index >= start && found === id;
  });
  return (at < 0 ? start : at) + 1;
}
