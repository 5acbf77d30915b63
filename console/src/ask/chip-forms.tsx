// Forms of chips: names with their counts to choose from by one click, a field for any other, and
// what a filter consists of.
import { useQuery } from '@tanstack/react-query';
import { type ChangeEvent, type FormEvent, type ReactNode, useId, useState } from 'react';
import type { Name, Names } from '../api/answer.js';
import { query } from '../api/query.js';
import type { Chip, Filter, Move } from '../language/chips.js';
import { type Days, toDays } from '../language/days.js';
import { knownFields } from '../language/known-names.js';
import { cellText, fieldText, nameText, valueText } from '../language/names.js';
import { DateFields, daysIn } from '../shell/date-fields.js';
import { Icon } from '../shell/icon.js';
import { menuItem } from '../shell/menu.js';
import { chipTexts } from '../texts/chips.js';
import style from './chips-bar.module.css';

export const KINDS = ['event', 'time', 'filter', 'measure', 'group', 'window', 'compare'] as const;
export type FormKind = (typeof KINDS)[number];

interface Props {
  readonly projectId: string;
  readonly kind: FormKind;
  readonly chip?: Chip | undefined;
  readonly names: Names | undefined;
  readonly apply: (written: string) => void;
  readonly remove?: (() => void) | undefined;
  readonly move?: (move: Move) => void;
}

const RANGES = ['today', 'yesterday', 'last 7d', 'last 30d', 'last 90d', 'this month', 'last month'];
const BUCKETS = ['hour', 'day', 'week', 'month'];
const COUNTING = ['count', 'unique'];
const MEASURES = ['sum', 'avg', 'median', 'p95', 'min', 'max', 'unique'];
const OPERATORS = ['=', '!=', '<', '<=', '>', '>=', 'contains', 'starts with', 'ends with', 'exists', 'not exists'];
const ALONE = ['exists', 'not exists'];

export function ChipForm({ projectId, kind, chip, names, apply, remove, move }: Props) {
  return (
    <div className={style.form}>
      {kind === 'time' && (
        <>
          <Choices items={RANGES} choose={apply} />
          <DaysForm name={chipTexts.days} days={chip && toDays(chip.label)} apply={apply} />
        </>
      )}
      {kind === 'window' && <Choices items={chipTexts.windows} choose={apply} />}
      {kind === 'compare' && (
        <>
          <Choices items={chipTexts.comparisons} choose={apply} />
          <DaysForm
            name={chipTexts.earlierDays}
            days={chip && toDays(chip.label)}
            apply={(days) => apply(`compare ${days}`)}
          />
        </>
      )}
      {kind === 'event' && <NameForm names={names?.events} apply={(name) => apply(nameText(name))} label={kind} />}
      {kind === 'group' && (
        <>
          <Choices items={BUCKETS} choose={apply} />
          <NameForm names={knownFields(names)} apply={(name) => apply(fieldText(name))} label={kind} />
        </>
      )}
      {kind === 'measure' && <MeasureForm names={names} apply={apply} />}
      {kind === 'filter' && <FilterForm projectId={projectId} filter={chip?.filter} names={names} apply={apply} />}
      {chip?.moves?.map((each) => (
        <button key={each.to} type="button" className={menuItem} onClick={() => move?.(each)}>
          {chipTexts.move[each.to]}
        </button>
      ))}
      {remove !== undefined && (
        <button type="button" className={menuItem} onClick={remove}>
          <Icon name="close" size={14} />
          {chipTexts.remove}
        </button>
      )}
    </div>
  );
}

interface ChoicesProps {
  /** Each as it is written, with what it means where that needs words. */
  readonly items: readonly (string | readonly [item: string, about: string])[];
  readonly choose: (item: string) => void;
}

function Choices({ items, choose }: ChoicesProps) {
  return items.map((each) => {
    const [item, about] = typeof each === 'string' ? [each] : each;
    return (
      <button key={item} type="button" className={menuItem} onClick={() => choose(item)}>
        {item}
        {about !== undefined && <span className={style.kind}>{about}</span>}
      </button>
    );
  });
}

interface DaysProps {
  readonly name: string;
  readonly days: Days | undefined;
  readonly apply: (written: string) => void;
}

function DaysForm({ name, days, apply }: DaysProps) {
  return (
    <SmallForm submit={(form) => apply(daysIn(form))}>
      <fieldset className={style.days}>
        <legend className={style.kind}>{name}</legend>
        <DateFields days={days} />
      </fieldset>
    </SmallForm>
  );
}

interface NameProps {
  readonly names: readonly Name[] | undefined;
  readonly label: FormKind;
  readonly apply: (name: string) => void;
}

/** More are found by typing a part of them. */
const SHOWN_MAX = 40;

function NameForm({ names = [], label, apply }: NameProps) {
  const [words, setWords] = useState('');
  const wanted = words.trim().toLowerCase();
  const found = names.filter(({ name }) => name.toLowerCase().includes(wanted)).slice(0, SHOWN_MAX);
  return (
    <>
      <SmallForm submit={() => apply(words.trim())}>
        <label>
          {chipTexts.kinds[label]}
          <input
            className="field"
            name="name"
            required
            autoComplete="off"
            spellCheck={false}
            value={words}
            onChange={({ target }) => setWords(target.value)}
          />
        </label>
      </SmallForm>
      <Picks names={found} choose={apply} />
    </>
  );
}

/** Names with their counts or types, one click each. */
function Picks({ names, choose }: { readonly names: readonly Name[]; readonly choose: (name: string) => void }) {
  if (names.length === 0) return null;
  return (
    <ul className={style.picks} aria-label={chipTexts.picks}>
      {names.map(({ name, detail }) => (
        <li key={name}>
          <button type="button" className={menuItem} onClick={() => choose(name)}>
            <span className={style.pick}>{name}</span>
            <span className={style.kind} aria-hidden>
              {detail}
            </span>
          </button>
        </li>
      ))}
    </ul>
  );
}

function MeasureForm({ names, apply }: Pick<Props, 'names' | 'apply'>) {
  return (
    <>
      <Choices items={COUNTING} choose={apply} />
      <SmallForm submit={(form) => apply(`${form.get('measure')} ${fieldText(String(form.get('name')).trim())}`)}>
        <label>
          {chipTexts.kinds.measure}
          <select className="field" name="measure">
            {MEASURES.map((measure) => (
              <option key={measure}>{measure}</option>
            ))}
          </select>
        </label>
        <NameField label={chipTexts.of} names={knownFields(names)} />
      </SmallForm>
    </>
  );
}

interface FilterProps extends Pick<Props, 'projectId' | 'names' | 'apply'> {
  readonly filter: Filter | undefined;
}

function FilterForm({ projectId, filter, names, apply }: FilterProps) {
  const [field, setField] = useState(filter?.field ?? '');
  const written = field === filter?.field ? field : fieldText(field.trim());
  const operators = [...new Set([...OPERATORS, ...(filter === undefined ? [] : [filter.operator])])];
  const isKnown = knownFields(names).some(({ name }) => name === field);
  const submit = (form: FormData): void => {
    const [operator = '', value = ''] = ['operator', 'value'].map((key) => String(form.get(key)).trim());
    apply(ALONE.includes(operator) ? `${written} ${operator}` : `${written} ${operator} ${valueText(value)}`);
  };
  return (
    <>
      <SmallForm submit={submit}>
        <NameField label={chipTexts.field} names={knownFields(names)} value={field} change={setField} />
        <label>
          {chipTexts.operator}
          <select className="field" name="operator" defaultValue={filter?.operator}>
            {operators.map((operator) => (
              <option key={operator}>{operator}</option>
            ))}
          </select>
        </label>
        <label>
          {chipTexts.value}
          <input className="field" name="value" defaultValue={filter?.value} autoComplete="off" />
        </label>
      </SmallForm>
      {isKnown ? (
        <Values
          projectId={projectId}
          field={written}
          choose={(value) => apply(`${written} = ${cellText(field, value)}`)}
        />
      ) : (
        <Picks names={knownFields(names).slice(0, SHOWN_MAX)} choose={setField} />
      )}
    </>
  );
}

interface ValuesProps {
  readonly projectId: string;
  readonly field: string;
  readonly choose: (value: string) => void;
}

/** The most frequent values of the field in the last 30 days. */
function Values({ projectId, field, choose }: ValuesProps) {
  const q = `* | last 30d | where ${field} exists | count by ${field} | top 20`;
  const { data } = useQuery({
    queryKey: ['values', projectId, q],
    queryFn: ({ signal }) => query({ projectId, q, timezone: 'UTC', limit: 20 }, signal),
  });
  const column = data?.columns[0] ?? '';
  const names = (data?.rows ?? []).map((row) => ({
    name: String(row[column]),
    detail: Number(row.count).toLocaleString('en'),
  }));
  return <Picks names={names} choose={choose} />;
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
        {chipTexts.apply}
      </button>
    </form>
  );
}

interface NameFieldProps {
  readonly label: string;
  readonly names: readonly Name[] | undefined;
  readonly value?: string | undefined;
  readonly change?: (name: string) => void;
}

function NameField({ label, names = [], value, change }: NameFieldProps) {
  const id = useId();
  return (
    <label>
      {label}
      <input
        className="field"
        name="name"
        list={id}
        required
        autoComplete="off"
        {...(change && { value, onChange: ({ target }: ChangeEvent<HTMLInputElement>) => change(target.value) })}
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
