// What was typed and chosen in the named fields of a form, kept in the tab until the form is sent
// or cancelled: another screen or a reload does not lose it.
import { type RefObject, useEffect, useRef, useState } from 'react';
import { recallInTab, rememberInTab } from './storage.js';

/** Values by the name of the field, of a check box also by its value: whether it is checked. */
type Fields = Readonly<Record<string, string | boolean>>;
type Field = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;

export interface KeptFields {
  /** Of an earlier visit. Fields with a state of their own begin with it. */
  readonly kept: Fields;
  readonly forget: () => void;
  /** Of the form. A form that was sent is reset. */
  readonly props: {
    readonly ref: RefObject<HTMLFormElement | null>;
    readonly onInput: () => void;
    readonly onReset: () => void;
  };
}

export function useKeptFields(formName: string): KeptFields {
  const name = nameOf(formName);
  const ref = useRef<HTMLFormElement>(null);
  const isTyped = useRef(false);
  const [kept] = useState(() => recallInTab<Fields | null>(name, null) ?? {});
  const save = (): void => {
    if (isTyped.current) rememberInTab(name, Object.fromEntries(fieldsOf(ref.current).map(entryOf)));
  };
  useEffect(() => {
    if (Object.keys(kept).length === 0) return;
    for (const field of fieldsOf(ref.current)) restore(field, kept[entryOf(field)[0]]);
    // To a dialog around the form it is typed.
    ref.current?.dispatchEvent(new Event('input', { bubbles: true }));
  }, [kept]);
  // The values of fields with a state of their own are there after the rendering.
  useEffect(save);
  const forget = (): void => {
    isTyped.current = false;
    forgetFields(formName);
  };
  const onInput = (): void => {
    isTyped.current = true;
    save();
  };
  return { kept, forget, props: { ref, onInput, onReset: forget } };
}

/** Drops what was typed into a form that is gone. */
export const forgetFields = (formName: string): void => rememberInTab(nameOf(formName), null);

export const textOf = (kept: string | boolean | undefined) => (typeof kept === 'string' ? kept : undefined);

const nameOf = (formName: string): string => `form.${formName}`;

const fieldsOf = (form: HTMLFormElement | null): readonly Field[] =>
  [...(form?.elements ?? [])].filter((element): element is Field => 'name' in element && element.name !== '');

const isCheckBox = (field: Field): field is HTMLInputElement => field.type === 'checkbox';

const entryOf = (field: Field): readonly [name: string, value: string | boolean] =>
  isCheckBox(field) ? [`${field.name}=${field.value}`, field.checked] : [field.name, field.value];

function restore(field: Field, value: string | boolean | undefined): void {
  if (isCheckBox(field)) {
    if (typeof value === 'boolean') field.checked = value;
    return;
  }
  // A choice that is not there any more is left as it is.
  const isThere = !(field instanceof HTMLSelectElement) || [...field.options].some((option) => option.value === value);
  if (typeof value === 'string' && isThere) field.value = value;
}
