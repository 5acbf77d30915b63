// A draft: the text of a dashboard that is being edited. It is checked, and its sections, cards and
// variables are changed, without being stored.
import { type Document, isMap, isNode, isScalar, isSeq, type YAMLMap } from 'yaml';
import { z } from 'zod';
import { PublicError } from '../platform/errors.js';
import type { ThreadTask } from '../platform/threads/thread-task.js';
import { cardSchema, type Variable, variableSchema } from './config-schema.js';
import { cardChangeSchema, cardMoveSchema, changeCard, moveCard, removeCard } from './edit-card.js';
import { changeSection, changeVariable, sectionChangeSchema, variableChangeSchema } from './edit-structure.js';
import { type DashboardContext, parseDashboard } from './parse-dashboard.js';
import type { DashboardProblem } from './problems.js';
import { SOURCE_BYTES_MAX } from './schema.js';
import { composeDocument } from './yaml-document.js';

export const draftBodySchema = z.strictObject({
  source_yaml: z
    .string({ error: 'is required: the text of the YAML document' })
    .max(SOURCE_BYTES_MAX, { error: `is longer than ${SOURCE_BYTES_MAX} characters` }),
  card: cardChangeSchema.optional().meta({ description: 'a card to add or to change in the text' }),
  move: cardMoveSchema.optional().meta({ description: 'a card to move to another place' }),
  section: sectionChangeSchema.optional().meta({ description: 'a section to add, to rename or to remove' }),
  variable: variableChangeSchema.optional().meta({ description: 'a variable to add, to change or to remove' }),
  remove: z.string().max(63).optional().meta({ description: 'the id of a card to remove from the text' }),
});
export type DraftBody = z.infer<typeof draftBodySchema>;

const shown = cardSchema
  .pick({ id: true, title: true, kind: true, viz: true, query: true, queries: true, markdown: true, layout: true })
  .partial()
  .required({ id: true });

/** What a form shows of a card: its fields that are valid, and the line at which it begins. */
export type DraftCard = z.infer<typeof shown> & { readonly line: number; readonly has_queries: boolean };

export interface DraftVariable {
  readonly name: string;
  readonly line: number;
  /** Null when it is not valid: the text says why. */
  readonly variable: Variable | null;
}

export interface Draft {
  readonly source_yaml: string;
  readonly problems: readonly DashboardProblem[];
  readonly sections: readonly { readonly title: string; readonly cards: readonly DraftCard[] }[];
  readonly variables: readonly DraftVariable[];
}

export interface DraftRequest {
  readonly draft: DraftBody;
  readonly context: DashboardContext;
}

export const draftTask: ThreadTask<DraftRequest, Draft> = {
  module: import.meta.url,
  name: 'draftTask',
  run: ({ draft, context }) => {
    const text = edit(draft);
    if (Buffer.byteLength(text) > SOURCE_BYTES_MAX) {
      throw new PublicError('too_large', `with this change, the document is longer than ${SOURCE_BYTES_MAX} bytes`);
    }
    const problems = problemsOf(text, context);
    return { source_yaml: text, problems, sections: sectionsOf(text), variables: variablesOf(text) };
  },
  tooCostly: 'the dashboard takes more than {limit} to check; split it',
};

/** In this order, if there are several. */
function edit({ source_yaml: source, card, move, section, variable, remove }: DraftBody): string {
  let text = source;
  if (section !== undefined) text = changeSection(text, section);
  if (variable !== undefined) text = changeVariable(text, variable);
  if (card !== undefined) text = changeCard(text, card);
  if (move !== undefined) text = moveCard(text, move);
  return remove === undefined ? text : removeCard(text, remove);
}

function problemsOf(text: string, context: DashboardContext): readonly DashboardProblem[] {
  try {
    parseDashboard(text, context);
    return [];
  } catch (error) {
    if (error instanceof PublicError && error.details !== undefined) return error.details as DashboardProblem[];
    throw error;
  }
}

function sectionsOf(text: string): Draft['sections'] {
  const { document } = composeDocument(text);
  const sections = document?.get('sections');
  if (document === undefined || !isSeq(sections)) return [];
  return sections.items.filter(isMap).map((section) => {
    const cards = section.get('cards');
    const title = section.get('title');
    return {
      title: typeof title === 'string' ? title : '',
      cards: !isSeq(cards)
        ? []
        : cards.items.filter(isMap).flatMap((node): DraftCard[] => {
            const card = toShown(fieldsOf(node, document));
            if (card === undefined) return [];
            return [{ ...card, line: lineAt(text, node.range?.[0]), has_queries: node.has('queries') }];
          }),
    };
  });
}

/** Without fields whose aliases cannot be resolved: the problems of the text name them. */
const fieldsOf = ({ items }: YAMLMap, document: Document.Parsed): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    items.flatMap(({ key, value }) => {
      if (!isScalar(key)) return [];
      try {
        return [[String(key.value), isNode(value) ? value.toJS(document) : value] as const];
      } catch (error) {
        if (error instanceof ReferenceError) return [];
        throw error;
      }
    }),
  );

const lineAt = (text: string, offset = 0): number => text.slice(0, offset).split('\n').length;

function variablesOf(text: string): DraftVariable[] {
  const { document } = composeDocument(text);
  const variables = document?.get('variables', true);
  if (document === undefined || !isMap(variables)) return [];
  return variables.items.flatMap(({ key, value }): DraftVariable[] => {
    if (!isScalar(key) || typeof key.value !== 'string') return [];
    const { data } = variableSchema.safeParse(isMap(value) ? fieldsOf(value, document) : undefined);
    return [{ name: key.value, line: lineAt(text, key.range?.[0]), variable: data ?? null }];
  });
}

/** Fields that are not valid are left out; a card without an id cannot be named. */
function toShown(card: Readonly<Record<string, unknown>>): z.infer<typeof shown> | undefined {
  const valid = Object.entries(shown.shape).flatMap(([name, schema]) => {
    const { success, data } = schema.safeParse(card[name]);
    return success && data !== undefined ? [[name, data] as const] : [];
  });
  const parsed = shown.safeParse(Object.fromEntries(valid));
  return parsed.success ? parsed.data : undefined;
}
