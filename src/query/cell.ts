// A cell of an answer, and its text where it has several.
export type Cell = null | string | number | boolean | readonly string[] | Readonly<Record<string, unknown>>;

export const isTexts = (cell: Cell): cell is readonly string[] => Array.isArray(cell);
/** Joins the texts of a cell with several: the nodes of a path, or a list. */
export const joinTexts = (texts: readonly string[], type: string): string =>
  texts.join(type === 'path' ? ' -> ' : ', ');
