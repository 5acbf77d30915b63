// The types of a project's events as a TypeScript module, for the Node client and the browser
// script.
import { orderTypes, type ProjectTypes, type PropertyType } from './model.js';

const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;

const quote = (text: string): string => JSON.stringify(text);
const keyOf = (name: string): string => (IDENTIFIER.test(name) ? name : quote(name));
const union = (names: readonly string[]): string => (names.length === 0 ? 'never' : names.map(quote).join(' | '));

export function toTypeScript({ events, metrics, cohorts }: ProjectTypes): string {
  return [
    '// Written by `npm run types` of the Event Analytics Service; write it again instead of changing it.',
    '',
    '/** Properties by event type, for `new Client<Events>(…)` and `Service<Events>`. */',
    'export interface Events {',
    ...events.flatMap(({ name, properties }) =>
      properties === undefined || properties.length === 0
        ? [`  ${keyOf(name)}: Record<string, ${properties ? 'never' : 'unknown'}>;`]
        : [
            `  ${keyOf(name)}: {`,
            ...properties.map(({ key, types }) => `    ${keyOf(key)}?: ${typeOf(types)};`),
            '  };',
          ],
    ),
    '}',
    '',
    'export type EventName = keyof Events;',
    `export type Metric = ${union(metrics)};`,
    `export type Cohort = ${union(cohorts)};`,
    '',
  ].join('\n');
}

const typeOf = (types: readonly PropertyType[]): string => orderTypes(types).join(' | ') || 'unknown';
