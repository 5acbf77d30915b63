// Third check of a dashboard document: the content of each card, and whether its queries compile.
// Cards with structural problems are skipped, because check-structure.ts reports them.
import { checkQuery, type QueryCheck } from './check-queries.js';
import { checkPlaceholders } from './check-templates.js';
import type { CheckedVariables } from './check-variables.js';
import { CARDS_MAX, type Card, cardSchema } from './config-schema.js';
import type { Path } from './path.js';
import type { DashboardProblem } from './problems.js';
import { parseTemplate } from './template.js';
import type { YamlSource } from './yaml-source.js';

export interface CardsCheck extends Omit<QueryCheck, 'variables'> {
  readonly variables: CheckedVariables;
}

export function checkCards(check: CardsCheck): DashboardProblem[] {
  const seen = new Set<string>();
  return listOf(check.source.at(['sections'])).flatMap((_, section) =>
    listOf(check.source.at(['sections', section, 'cards'])).flatMap((value, position) => {
      const card = cardSchema.safeParse(value).data;
      return card === undefined ? [] : checkCard({ check, path: ['sections', section, 'cards', position], seen }, card);
    }),
  );
}

/** A problem at the first card beyond the limit. */
export function checkCardCount(source: YamlSource): DashboardProblem[] {
  const paths = listOf(source.at(['sections'])).flatMap((_, section) =>
    listOf(source.at(['sections', section, 'cards'])).map((_, card): Path => ['sections', section, 'cards', card]),
  );
  const first = paths[CARDS_MAX];
  if (first === undefined) return [];
  const message = `the dashboard has ${paths.length} cards; the limit is ${CARDS_MAX}`;
  return [source.problemAt(first, { message, hint: 'split it into several dashboards' })];
}

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

interface CardCheck {
  readonly check: CardsCheck;
  readonly path: Path;
  /** The ids of the previous cards. */
  readonly seen: Set<string>;
}

function checkCard({ check, path, seen }: CardCheck, card: Card): DashboardProblem[] {
  const problems = checkContent({ check, path, seen }, card);
  if (seen.has(card.id)) {
    const remark = { message: `the id "${card.id}" is used twice`, hint: 'every card has its own' };
    problems.push(check.source.problemAt([...path, 'id'], remark));
  }
  seen.add(card.id);
  if (card.query !== undefined) problems.push(...checkTemplate(check, [...path, 'query'], card.query));
  card.queries?.forEach(({ name, query }, index) => {
    if (card.queries?.findIndex((other) => other.name === name) !== index) {
      const remark = { message: `the name "${name}" is used twice`, hint: 'every query has its own' };
      problems.push(check.source.problemAt([...path, 'queries', index, 'name'], remark));
    }
    problems.push(...checkTemplate(check, [...path, 'queries', index, 'query'], query));
  });
  return problems;
}

function checkContent({ check, path }: CardCheck, card: Card): DashboardProblem[] {
  const contents = (['query', 'queries', 'markdown'] as const).filter((content) => card[content] !== undefined);
  const [content] = contents;
  if (content === undefined || contents.length > 1) {
    const message = `the card has ${contents.length > 1 ? contents.join(' and ') : 'no content'}`;
    return [check.source.problemAt(path, { message, hint: 'it has one of query, queries and markdown' })];
  }
  const isMarkdown = [card.kind, card.viz, content].map((word) => word === 'markdown');
  if (isMarkdown.every((each) => each === isMarkdown[0])) return [];
  const message = `the kind ${card.kind}, the viz ${card.viz} and ${content} do not go together`;
  const hint = 'all three are markdown, or none of them is';
  return [check.source.problemAt([...path, 'kind'], { message, hint })];
}

function checkTemplate({ variables, ...check }: CardsCheck, path: Path, template: string): DashboardProblem[] {
  // Skip queries that use a wrong variable: its own problem is reported already.
  const isDoubtful = parseTemplate(template).some(
    (part) => part.kind === 'placeholder' && variables.wrong.has(part.name),
  );
  if (isDoubtful) return [];
  const misplaced = checkPlaceholders({ source: check.source, path, variables: variables.sound }, template);
  return misplaced.length > 0 ? misplaced : checkQuery({ ...check, variables: variables.sound }, path, template);
}
