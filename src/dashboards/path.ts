// Paths in the structure of a document, such as `sections[0].cards[2].viz`.

export type Path = readonly (string | number)[];

const BARE_KEY = /^[A-Za-z_][A-Za-z0-9_-]*$/;

export function toPathText(path: Path): string {
  const text = path.map((key) => {
    if (typeof key === 'number') return `[${key}]`;
    return BARE_KEY.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;
  });
  return text.join('').replace(/^\./, '');
}

/** The value at `path` within another value. */
export function valueAt(value: unknown, path: Path): unknown {
  let inside = value;
  for (const key of path) {
    if (typeof inside !== 'object' || inside === null || !Object.hasOwn(inside, key)) return undefined;
    inside = (inside as Record<string | number, unknown>)[key];
  }
  return inside;
}
