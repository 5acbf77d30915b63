// The range of a dashboard: whether it has a field, and which cards have another one.

const PLACEHOLDER = /\{\{\s*range\b/;

/** The declared variables, and `range` when a card contains it without a declaration. */
export function fieldsOf<Variable>({ variables = {}, sections }: Document<Variable>): Fields<Variable> {
  const isUsed = 'range' in variables || PLACEHOLDER.test(JSON.stringify(sections));
  return isUsed ? { range: { type: 'date_range' }, ...variables } : variables;
}

/** Whether the range of the dashboard, which has a field, does not change the card. */
export const hasOwnRange = (card: object, fields: object): boolean =>
  'range' in fields && !PLACEHOLDER.test(JSON.stringify(card));

interface Document<Variable> {
  readonly variables?: Readonly<Record<string, Variable>>;
  readonly sections: unknown;
}

type Fields<Variable> = Readonly<Record<string, Variable | { readonly type: 'date_range' }>>;
