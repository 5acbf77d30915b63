// Changes of the sections and variables of a dashboard document in its text. Renaming a variable
// renames its placeholders, too.
import { isMap, isSeq } from 'yaml';
import { z } from 'zod';
import { PublicError } from '../platform/errors.js';
import { configSchema, variableSchema } from './config-schema.js';
import { setItems } from './edit-items.js';
import { insertField, insertItem, isSameBut, removeItem, renameField, requireDocument, setField } from './splice.js';

const { sections, variables } = configSchema.shape;
const variableName = variables.unwrap().keyType;

export const sectionChangeSchema = z.strictObject({
  index: z.int().min(0).max(49).optional().meta({ description: 'the section to change; absent for a new one' }),
  title: sections.element.shape.title.nullable().meta({ description: 'null removes the section with its cards' }),
});
export type SectionChange = z.infer<typeof sectionChangeSchema>;

export const variableChangeSchema = z.strictObject({
  name: variableName.optional().meta({ description: 'the variable to change; absent for a new one' }),
  new_name: variableName.optional().meta({ description: 'the name of a new variable, or another name' }),
  variable: variableSchema.nullable().meta({ description: 'null removes the variable' }),
});
export type VariableChange = z.infer<typeof variableChangeSchema>;

export function changeSection(source: string, { index, title }: SectionChange): string {
  const list: unknown = requireDocument(source).get('sections');
  if (!isSeq(list)) throw new PublicError('bad_request', 'the text has no list of sections; edit the text');
  if (index === undefined) {
    if (title === null) throw new PublicError('bad_request', 'section.index is required: the section to remove');
    return insertItem(source, { list: ['sections'], index: list.items.length }, { title, cards: [] });
  }
  if (!isMap(list.items[index])) throw new PublicError('bad_request', `the text has no section ${index + 1}`);
  if (title !== null) return setField(source, ['sections', index], { key: 'title', value: title });
  if (list.items.length === 1) {
    throw new PublicError('bad_request', 'a dashboard has at least one section: the last one cannot be removed');
  }
  return removeItem(source, ['sections', index]);
}

export function changeVariable(source: string, { name, new_name: newName, variable }: VariableChange): string {
  const names = namesOf(source);
  if (name !== undefined && !names.includes(name)) {
    throw new PublicError('bad_request', `the text has no variable "${name}"; it may have been renamed`);
  }
  const wanted = newName ?? name;
  if (wanted === undefined) throw new PublicError('bad_request', 'variable.new_name is required: a name');
  if (wanted !== name && names.includes(wanted)) {
    throw new PublicError('bad_request', `there is another variable "${wanted}"`);
  }
  if (variable === null) return name === undefined ? source : removeVariable(source, name, names);
  if (name === undefined) return addVariable(source, wanted, variable);
  const renamed = wanted === name ? source : renameVariable(source, [name, wanted]);
  return setVariable(renamed, wanted, variable);
}

function namesOf(source: string): readonly string[] {
  const document = requireDocument(source);
  const map: unknown = document.get('variables', true);
  return isMap(map) ? Object.keys(map.toJS(document) as object) : [];
}

/** The last one takes the key `variables` with it. */
const removeVariable = (source: string, name: string, names: readonly string[]): string =>
  names.length === 1
    ? setField(source, [], { key: 'variables', value: null })
    : setField(source, ['variables'], { key: name, value: null });

const addVariable = (source: string, name: string, variable: object): string =>
  isMap(requireDocument(source).get('variables', true))
    ? setField(source, ['variables'], { key: name, value: variable })
    : insertField(source, 'sections', { key: 'variables', value: { [name]: variable } });

function setVariable(source: string, name: string, variable: Readonly<Record<string, unknown>>): string {
  const path = ['variables', name];
  const document = requireDocument(source);
  const node: unknown = document.getIn(path, true);
  if (!isMap(node)) return setField(source, ['variables'], { key: name, value: variable });
  const before = node.toJS(document) as Readonly<Record<string, unknown>>;
  let text = source;
  for (const key of new Set([...Object.keys(before), ...Object.keys(variable)])) {
    const value = variable[key] ?? null;
    const isList = key === 'options' && Array.isArray(value) && Array.isArray(before.options);
    text = isList ? setItems(text, [...path, key], value) : setField(text, path, { key, value });
  }
  return text;
}

function renameVariable(source: string, [from, to]: readonly [string, string]): string {
  const renamed = renameField(source, ['variables'], [from, to]);
  const placeholder = new RegExp(`(\\{\\{\\s*)${from}(?=\\s*[.}])`, 'g');
  const rename = (text: string): string => text.replace(placeholder, (_, before: string) => before + to);
  const changed = rename(renamed);
  if (isSameBut(renamed, changed, (config) => replaceTexts(config, rename))) return changed;
  throw new PublicError('bad_request', `a form cannot rename "${from}" in all of its placeholders; edit the text`);
}

// biome-ignore lint/suspicious/noExplicitAny: plain data of any shape
function replaceTexts(config: any, replace: (text: string) => string): void {
  for (const [key, value] of Object.entries(config ?? {})) {
    if (typeof value === 'string') config[key] = replace(value);
    else if (typeof value === 'object') replaceTexts(value, replace);
  }
}
