// A statement as a script for an SQL client: sets the parameters, then runs the query.
import type { ParameterValue } from '../plan/expressions.js';
import type { Statement } from './print.js';

const quote = (text: string): string => `'${text.replace(/[\\']/g, '\\$&')}'`;

/** ClickHouse reads the text of a parameter as a field of tab-separated values. */
const asField = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('\t', '\\t').replaceAll('\n', '\\n');

function literal(value: ParameterValue): string {
  if (typeof value === 'number') return String(value);
  if (typeof value === 'string') return quote(asField(value));
  return `[${value.map((item) => (typeof item === 'string' ? quote(item) : item)).join(', ')}]`;
}

export const toScript = ({ sql, params }: Statement): string =>
  [...Object.entries(params).map(([name, value]) => `SET param_${name} = ${literal(value)};`), `\n${sql};`].join('\n');
