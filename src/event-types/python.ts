// The types of a project's events as a Python module of `TypedDict`s, for Python 3.9 or newer.
import { type EventType, orderTypes, type ProjectTypes, type PropertyType } from './model.js';

const TYPES = { string: 'str', number: 'float', boolean: 'bool', null: 'None' } as const;

/** JSON's escapes are those of Python, too. */
const quote = (text: string): string => JSON.stringify(text);
const literal = (names: readonly string[]): string =>
  names.length === 0 ? 'NoReturn' : `Literal[${names.map(quote).join(', ')}]`;

export function toPython({ events, metrics, cohorts }: ProjectTypes): string {
  const classes = uniqueClassNames(events.map(({ name }) => name));
  return [
    '# Written by `npm run types` of the Event Analytics Service; write it again instead of changing it.',
    'from typing import Any, Dict, Literal, NoReturn, TypedDict, Union',
    '',
    'Ids = TypedDict("Ids", {"user_id": str, "device_id": str, "session_id": str, "time": str, "insert_id": str}, total=False)',
    '',
    ...events.flatMap(({ name, properties }, index) => {
      const className = classes[index] ?? '';
      return [
        '',
        ...propertiesOf(className, properties),
        '',
        '',
        `class ${className}(Ids, total=False):`,
        `    event_type: Literal[${quote(name)}]`,
        `    event_properties: ${className}Properties`,
        '',
      ];
    }),
    '',
    `Event = ${events.length === 0 ? 'NoReturn' : `Union[${classes.join(', ')}]`}`,
    `EventName = ${literal(events.map(({ name }) => name))}`,
    `Metric = ${literal(metrics)}`,
    `Cohort = ${literal(cohorts)}`,
    '',
  ].join('\n');
}

function propertiesOf(className: string, properties: EventType['properties']): string[] {
  if (properties === undefined) return [`${className}Properties = Dict[str, Any]`];
  const fields = properties.map(({ key, types }) => `    ${quote(key)}: ${typeOf(types)},`);
  return [
    `${className}Properties = TypedDict(`,
    `    "${className}Properties",`,
    ...(fields.length === 0 ? ['    {},'] : ['    {', ...fields.map((field) => `    ${field}`), '    },']),
    '    total=False,',
    ')',
  ];
}

function typeOf(types: readonly PropertyType[]): string {
  const names = orderTypes(types).map((type) => TYPES[type]);
  return names.length > 1 ? `Union[${names.join(', ')}]` : (names[0] ?? 'Any');
}

const RESERVED = new Set([
  'Ids',
  'Event',
  'EventName',
  'Metric',
  'Cohort',
  'Any',
  'Dict',
  'Literal',
  'NoReturn',
  'None',
  'True',
  'False',
  'Union',
  'TypedDict',
]);

/** `sign-up finished` → `SignUpFinished`; names that would be equal get a number. */
function uniqueClassNames(names: readonly string[]): string[] {
  const taken = new Set(RESERVED);
  return names.map((name) => {
    const words = name.match(/[A-Za-z0-9]+/g) ?? [];
    const joined = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
    const base = /^[A-Z]/.test(joined) ? joined : `Event${joined}`;
    let unique = base;
    for (let number = 2; taken.has(unique) || taken.has(`${unique}Properties`); number += 1)
      unique = `${base}${number}`;
    taken.add(unique).add(`${unique}Properties`);
    return unique;
  });
}
