// The form of a variable: name, type, label, default, and the options of a choice. What it does not
// show (fragments) stays as the text has it.
import { useState } from 'react';
import { textOf, useKeptFields } from '../shell/kept-fields.js';
import { dashboardsTexts } from '../texts/dashboards.js';
import type { DraftVariable, Variable } from './api.js';
import editing from './editing.module.css';
import { LabelledSelect } from './fields.js';
import { FormDialog } from './form-dialog.js';
import { formatOptions, parseOptions } from './variable-options.js';

const words = dashboardsTexts.form;
const TYPES = ['date_range', 'select', 'input'] as const;

interface Props {
  /** Undefined for a new variable. */
  readonly edited: DraftVariable | undefined;
  readonly formName: string;
  readonly failure: string | undefined;
  /** Null removes it. */
  readonly apply: (name: string, variable: Variable | null) => Promise<void>;
  readonly close: () => void;
}

export function VariableForm({ edited, formName, failure, apply, close }: Props) {
  const fields = useKeptFields(formName);
  const before = edited?.variable ?? undefined;
  const [type, setType] = useState(
    (textOf(fields.kept.type) as Variable['type'] | undefined) ?? before?.type ?? 'date_range',
  );
  const name = edited === undefined ? dashboardsTexts.newVariable : dashboardsTexts.editVariable(edited.name);
  const ofSelect = before?.type === 'select' ? before : undefined;
  const read = (form: FormData): Variable => {
    const text = (field: string): string => String(form.get(field) ?? '').trim();
    const given = (fields: readonly string[]) =>
      Object.fromEntries(fields.flatMap((field) => (text(field) === '' ? [] : [[field, text(field)]])));
    const kept = before?.type === type ? withoutShown(before) : {};
    const options = type === 'select' ? parseOptions(text('options'), ofSelect?.options ?? []) : [];
    return {
      type,
      ...kept,
      ...given(['label', 'default']),
      ...(type === 'select' && given(['query', 'value_column', 'label_column'])),
      ...(options.length > 0 && { options }),
    };
  };
  return (
    <FormDialog
      name={name}
      fields={fields}
      failure={failure}
      apply={(form) => apply(String(form.get('name')).trim(), read(form))}
      removeLabel={words.removeVariable}
      remove={edited && (() => apply(edited.name, null))}
      close={close}
    >
      <div className={editing.pair}>
        <label>
          {words.name}
          <input
            className="field"
            name="name"
            required
            pattern="[A-Za-z][A-Za-z0-9_]*"
            maxLength={63}
            spellCheck={false}
            autoCapitalize="off"
            defaultValue={edited?.name ?? ''}
            title={words.nameForm}
          />
        </label>
        <LabelledSelect
          label={words.type}
          name="type"
          value={type}
          options={TYPES.map((each) => [each, words.types[each]])}
          choose={(value) => setType(value as Variable['type'])}
        />
      </div>
      <p className="muted">{words.nameNote}</p>
      <div className={editing.pair}>
        <label>
          {words.label}
          <input className="field" name="label" maxLength={200} defaultValue={before?.label ?? ''} />
        </label>
        <label>
          {words.default}
          <input className="field" name="default" maxLength={8192} defaultValue={before?.default ?? ''} />
        </label>
      </div>
      {type === 'select' && (
        <>
          <label>
            {words.options}
            <textarea
              className={`field ${editing.markdown}`}
              name="options"
              rows={5}
              spellCheck={false}
              defaultValue={formatOptions(ofSelect?.options ?? [])}
            />
          </label>
          <p className="muted">{words.optionsNote}</p>
          <label>
            {words.optionsQuery}
            <input className="field" name="query" spellCheck={false} defaultValue={ofSelect?.query ?? ''} />
          </label>
          <div className={editing.pair}>
            <label>
              {words.valueColumn}
              <input className="field" name="value_column" defaultValue={ofSelect?.value_column ?? ''} />
            </label>
            <label>
              {words.labelColumn}
              <input className="field" name="label_column" defaultValue={ofSelect?.label_column ?? ''} />
            </label>
          </div>
        </>
      )}
    </FormDialog>
  );
}

const SHOWN = ['type', 'label', 'default'];
const SHOWN_OF_SELECT = [...SHOWN, 'options', 'query', 'value_column', 'label_column'];

function withoutShown(variable: Variable): object {
  const shown = variable.type === 'select' ? SHOWN_OF_SELECT : SHOWN;
  return Object.fromEntries(Object.entries(variable).filter(([field]) => !shown.includes(field)));
}
