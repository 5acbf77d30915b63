// Placeholders of a dashboard in a query, which only the service fills: {{range.stage}} brings its
// own pipe, {{plan}} stands for a value. They are replaced by blanks, or by a text, of the same
// length, so that the rest of the query is judged at its place.
const PLACEHOLDER = /\{\{\s*[\w.]*\s*\}\}/g;

export const hidePlaceholders = (text: string): string =>
  text.replace(PLACEHOLDER, (found) =>
    found.includes('.') ? ' '.repeat(found.length) : `"${'x'.repeat(found.length - 2)}"`,
  );
