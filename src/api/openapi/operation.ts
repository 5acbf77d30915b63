// What the OpenAPI document says of one operation, and short forms for writing the table of them.
import type { z } from 'zod';
import type { RouteName } from '../../access/route-matrix.js';
import { refTo, type SchemaName } from './schemas.js';

/** Schema by media type. */
export type Content = Readonly<Record<string, unknown>>;

/** What each group of operations is about. */
export const TAGS = {
  Events: 'Events and people in, also as SDKs of other products send them.',
  Queries: 'Questions, and the names that they may use.',
  Dashboards: 'Dashboards, their cards and answers.',
  Definitions: 'What a project calls its events and properties, and what it lets in and keeps.',
  Alerts: 'Alerts, reports, and whom they tell.',
  Organizations: 'Organizations, their people and roles.',
  Projects: 'Projects, their keys and settings.',
  Tokens: 'Tokens of people and of programs.',
  Privacy: 'Erasure, export, and the audit trail.',
  Pages: 'Pages for browsers, and what they load.',
  Operations: 'For operators: health, readiness, metrics, documents.',
} as const;

export interface Operation {
  readonly tag: keyof typeof TAGS;
  readonly summary: string;
  readonly body?: unknown;
  /** Default: application/json. */
  readonly bodyType?: string;
  readonly query?: z.ZodObject;
  readonly answers: Readonly<Record<number, Content>>;
  /** Statuses in addition to those that the credential, body and path imply (document.ts). */
  readonly errors?: readonly number[];
}

export const json = (name: SchemaName): Content => ({ 'application/json': refTo(name) });
export const jsonList = (name: SchemaName): Content => ({ 'application/json': { type: 'array', items: refTo(name) } });
export const text = (...types: string[]): Content =>
  Object.fromEntries(types.map((type) => [type, { type: 'string' }]));

export type Row = readonly [
  summary: string,
  answers: Operation['answers'],
  more?: Pick<Operation, 'body' | 'bodyType' | 'query' | 'errors'>,
];

/** Operations of one tag. */
export function tagged<Name extends RouteName>(tag: Operation['tag'], rows: Readonly<Record<Name, Row>>) {
  const operations = Object.entries<Row>(rows).map(([name, [summary, answers, more]]) => [
    name,
    { tag, summary, answers, ...more },
  ]);
  return Object.fromEntries(operations) as Record<Name, Operation>;
}
