// Dashboard documents of the tests: their problems as text, and what a change changed.
import { expect } from 'vitest';
import { parse } from 'yaml';
import type { CardChange } from '../../../src/dashboards/edit-card.js';
import { type DashboardContext, parseDashboard } from '../../../src/dashboards/parse-dashboard.js';
import type { DashboardProblem } from '../../../src/dashboards/problems.js';
import { PublicError } from '../../../src/platform/errors.js';
import { toProjectId } from '../../../src/platform/ids.js';
import { NOW_MS, PROJECT } from '../../golden/dataset.js';

export const CONTEXT = {
  projectId: toProjectId(PROJECT),
  nowMs: NOW_MS,
  timezone: 'UTC',
  privateAddresses: [],
  key: 'sales',
  definitions: [],
};

/** The problems of a text; none for a valid document. */
export function findProblems(text: string, context: DashboardContext = CONTEXT): readonly DashboardProblem[] {
  try {
    parseDashboard(text, context);
    return [];
  } catch (error) {
    if (!(error instanceof PublicError)) throw error;
    expect(error.kind).toBe('bad_request');
    return error.details as DashboardProblem[];
  }
}

/**
 * Every problem as `line «text at the position» path: message; hint`; none for a valid document.
 */
export const problemsOf = (text: string): string[] =>
  findProblems(text).map(({ path, message, line, column, hint }) => {
    const there = [...(text.split('\n')[line - 1] ?? '')].slice(column - 1, column + 7).join('');
    return `${line} «${there}» ${path}: ${message}; ${hint}`;
  });

export const CARD = '{id: a, title: A, kind: metric, viz: number, query: signup | count}';
export const SMALLEST = `version: 1\ntitle: Sales\nsections:\n  - {title: S, cards: [${CARD}]}\n`;
export const withCard = (lines: string) =>
  `version: 1\ntitle: T\nsections:\n- title: S\n  cards:\n  - id: a\n    title: A\n${lines.replace(/^/gm, '    ')}\n`;
export const withVariables = (lines: string, query = 'signup | count') =>
  `${withCard(`kind: metric\nviz: number\nquery: ${query}`)}variables:\n${lines.replace(/^/gm, '  ')}\n`;

/** Lines of the second text that are not in the first, and the other way round. */
export function differenceOf(before: string, after: string) {
  const [old, changed] = [before.split('\n'), after.split('\n')];
  return {
    added: changed.filter((line) => !old.includes(line)),
    removed: old.filter((line) => !changed.includes(line)),
  };
}

/** Cards written in different ways, between comments. */
export const COMMENTED = `# Owned by the growth team.
version: 1
title:   Sales   # shown in the list
sections:
  - title: Numbers
    cards:
      # The most important one.
      - id: orders
        title: Orders # of all shops
        kind: metric
        viz: number
        query: >-
          purchase
          | last 30d | count
        options: {unit: "€"}

      - {id: visits, title: 'Visits', kind: chart, viz: line, query: 'page_view {{range.stage}} | count by day'} # flow
      - id: notes
        title: "Notes"
        kind: markdown
        viz: markdown
        markdown: |
          # About
            indented
  - title: Empty
    cards: []
`;

/** A change of this card of it that changes nothing. */
export const baseOf = (id: string): CardChange => {
  const cards = parse(COMMENTED).sections.flatMap((section: { cards: { id: string }[] }) => section.cards);
  const { title, kind, viz } = cards.find((card: { id: string }) => card.id === id);
  return { id, title, kind, viz };
};
