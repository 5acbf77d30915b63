// Chips over the text of the query: each edits its own part of the text and leaves the rest alone. What no chip can edit is a chip
// that opens the text there.
import { type FormEvent, type ReactNode, useId, useState } from 'react';
import type { Name, Names } from '../api/answer.js';
import { type Chip, type ChipKind, chipsOf, type Insertion } from '../language/chips.js';
import { knownFields, knownValues } from '../language/known-names.js';
import { replaceSpan, type Span } from '../language/language.js';
import { fieldText, nameText, valueText } from '../language/names.js';
import { Icon } from '../shell/icon.js';
import { Menu, menuItem } from '../shell/menu.js';
import { texts } from '../texts.js';
import style from './chips-bar.module.css';

interface Props {
  readonly text: string;
  readonly names: Names | undefined;
  /** Sets the text, and runs it. */
  readonly apply: (text: string) => void;
  /** Opens the text at the place. */
  readonly edit: (span: Span) => void;
}

export function ChipsBar({ text, names, apply, edit }: Props) {
  const read = chipsOf(text);
  if (read === undefined || read.chips.length === 0) return null;
  const { chips, insertions } = read;
  const replace = (span: Span, by: string): void => apply(replaceSpan(text, span, by));
  const insert = ({ at, before }: Insertion, added: string): void => replace({ from: at, to: at }, `${before}${added}`);
  return (
    <ul className={style.chips} aria-label={texts.chips.label}>
      {chips.map((chip) => (
        <li key={`${chip.kind} ${chip.span.from}`}>
          {isForm(chip) ? (
            <Menu className={`button small ${style.chip}`} name={nameOf(chip)} label={<ChipLabel chip={chip} />}>
              {(close) => (
                <Form
                  kind={chip.kind}
                  chip={chip}
                  names={names}
                  apply={(written) => {
                    close();
                    replace(chip.span, written);
                  }}
                  remove={
                    chip.removal &&
                    (() => {
                      close();
                      replace(chip.removal ?? chip.span, '');
                    })
                  }
                />
              )}
            </Menu>
          ) : (
            <button
              type="button"
              className={`button small ${style.chip}`}
              aria-label={`${nameOf(chip)}${texts.chips.editAsText}`}
              onClick={() => edit(chip.span)}
            >
              <ChipLabel chip={chip} />
            </button>
          )}
        </li>
      ))}
      {KINDS.map((kind) => {
        const insertion = insertions[kind];
        return insertion === undefined ? null : (
          <li key={kind}>
            <Menu
              className={`button small plain ${style.add}`}
              name={texts.chips.add(texts.chips.kinds[kind])}
              label={
                <>
                  <Icon name="add" size={14} />
                  {texts.chips.kinds[kind]}
                </>
              }
            >
              {(close) => (
                <Form
                  kind={kind}
                  names={names}
                  apply={(written) => {
                    close();
                    insert(insertion, written);
                  }}
                />
              )}
            </Menu>
          </li>
        );
      })}
    </ul>
  );
}

const KINDS = ['event', 'time', 'filter', 'measure', 'group'] as const;
type FormKind = (typeof KINDS)[number];

const isForm = (chip: Chip): chip is Chip & { readonly kind: FormKind } =>
  (KINDS as readonly ChipKind[]).includes(chip.kind);

const nameOf = ({ kind, label }: Chip): string => `${texts.chips.kinds[kind]}: ${label}`;

function ChipLabel({ chip: { kind, label } }: { readonly chip: Chip }) {
  return (
    <>
      <span className={style.kind}>{texts.chips.kinds[kind]}</span> <span className={style.text}>{label}</span>
    </>
  );
}

interface FormProps {
  readonly kind: FormKind;
  readonly chip?: Chip | undefined;
  readonly names: Names | undefined;
  readonly apply: (written: string) => void;
  readonly remove?: (() => void) | undefined;
}

function Form({ kind, chip, names, apply, remove }: FormProps) {
  return (
    <div className={style.form}>
      {kind === 'time' && <Choices items={RANGES} choose={apply} />}
      {kind === 'event' && <NameForm names={names?.events} apply={(name) => apply(nameText(name))} label={kind} />}
      {kind === 'group' && (
        <>
          <Choices items={BUCKETS} choose={apply} />
          <NameForm names={knownFields(names)} apply={(name) => apply(fieldText(name))} label={kind} />
        </>
      )}
      {kind === 'measure' && <MeasureForm names={names} apply={apply} />}
      {kind === 'filter' && <FilterForm chip={chip} names={names} apply={apply} />}
      {remove !== undefined && (
        <button type="button" className={menuItem} onClick={remove}>
          <Icon name="close" size={14} />
          {texts.chips.remove}
        </button>
      )}
    </div>
  );
}

const RANGES = ['today', 'yesterday', 'last 7d', 'last 30d', 'last 90d', 'this month', 'last month'];
const BUCKETS = ['hour', 'day', 'week', 'month'];
const COUNTING = ['count', 'unique'];
const MEASURES = ['sum', 'avg', 'median', 'p95', 'min', 'max', 'unique'];
const OPERATORS = ['=', '!=', '<', '<=', '>', '>=', 'contains', 'starts with', 'ends with', 'exists', 'not exists'];
const ALONE = ['exists', 'not exists'];

function Choices({ items, choose }: { readonly items: readonly string[]; readonly choose: (item: string) => void }) {
  return items.map((item) => (
    <button key={item} type="button" className={menuItem} onClick={() => choose(item)}>
      {item}
    </button>
  ));
}

interface NameProps {
  readonly names: readonly Name[] | undefined;
  readonly label: FormKind;
  readonly apply: (name: string) => void;
}

function NameForm({ names, label, apply }: NameProps) {
  const submit = (form: FormData): void => apply(String(form.get('name')).trim());
  return (
    <SmallForm submit={submit}>
      <NameField label={texts.chips.kinds[label]} name="name" names={names} />
    </SmallForm>
  );
}

function MeasureForm({ names, apply }: Pick<FormProps, 'names' | 'apply'>) {
  return (
    <>
      <Choices items={COUNTING} choose={apply} />
      <SmallForm submit={(form) => apply(`${form.get('measure')} ${fieldText(String(form.get('name')).trim())}`)}>
        <label>
          {texts.chips.kinds.measure}
          <select className="field" name="measure">
            {MEASURES.map((measure) => (
              <option key={measure}>{measure}</option>
            ))}
          </select>
        </label>
        <NameField label={texts.chips.of} name="name" names={knownFields(names)} />
      </SmallForm>
    </>
  );
}

function FilterForm({ chip, names, apply }: Pick<FormProps, 'chip' | 'names' | 'apply'>) {
  const filter = chip?.filter;
  const operators = [...new Set([...OPERATORS, ...(filter === undefined ? [] : [filter.operator])])];
  const submit = (form: FormData): void => {
    const [name, operator, value] = ['name', 'operator', 'value'].map((key) => String(form.get(key)).trim());
    const field = name === filter?.field ? name : fieldText(name ?? '');
    apply(ALONE.includes(operator ?? '') ? `${field} ${operator}` : `${field} ${operator} ${valueText(value ?? '')}`);
  };
  const [field, setField] = useState(filter?.field ?? '');
  const valuesId = useId();
  const values = names === undefined ? [] : knownValues(names, fieldText(field));
  return (
    <SmallForm submit={submit}>
      <NameField
        label={texts.chips.field}
        name="name"
        names={knownFields(names)}
        value={filter?.field}
        onChange={setField}
      />
      <label>
        {texts.chips.operator}
        <select className="field" name="operator" defaultValue={filter?.operator}>
          {operators.map((operator) => (
            <option key={operator}>{operator}</option>
          ))}
        </select>
      </label>
      <label>
        {texts.chips.value}
        <input className="field" name="value" list={valuesId} defaultValue={filter?.value} autoComplete="off" />
        <datalist id={valuesId}>
          {values.map((value) => (
            <option key={value} value={value} />
          ))}
        </datalist>
      </label>
    </SmallForm>
  );
}

function SmallForm({ submit, children }: { readonly submit: (form: FormData) => void; readonly children: ReactNode }) {
  return (
    <form
      className={style.fields}
      onSubmit={(event: FormEvent<HTMLFormElement>) => {
        event.preventDefault();
        submit(new FormData(event.currentTarget));
      }}
    >
      {children}
      <button type="submit" className="button small primary">
        {texts.chips.apply}
      </button>
    </form>
  );
}

interface NameFieldProps {
  readonly label: string;
  readonly name: string;
  readonly names: readonly Name[] | undefined;
  readonly value?: string | undefined;
  readonly onChange?: (value: string) => void;
}

function NameField({ label, name, names = [], value, onChange }: NameFieldProps) {
  const id = useId();
  return (
    <label>
      {label}
      <input
        className="field"
        name={name}
        list={id}
        required
        defaultValue={value}
        autoComplete="off"
        onChange={(event) => onChange?.(event.target.value)}
      />
      <datalist id={id}>
        {names.map((each) => (
          <option key={each.name} value={each.name}>
            {each.detail}
          </option>
        ))}
      </datalist>
    </label>
  );
}
