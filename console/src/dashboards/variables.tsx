// The variables of a dashboard: a list, a range of time, or a field. A choice is kept in the
// address.
import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useId, useState } from 'react';
import {
  CUSTOM_RANGE,
  expandRange,
  findColumn,
  type RangeVariable,
  toRange,
} from '../../../src/dashboards/variable-forms.js';
import { paced } from '../api/paced.js';
import { query } from '../api/query.js';
import { toDays } from '../language/days.js';
import { DateFields, daysIn } from '../shell/date-fields.js';
import { dashboardsTexts } from '../texts/dashboards.js';
import { texts } from '../texts.js';
import type { Values, Variable } from './api.js';
import style from './dashboards.module.css';

interface Props {
  readonly projectId: string;
  readonly timezone: string;
  readonly variables: Readonly<Record<string, Variable>>;
  readonly values: Values;
  readonly choose: (values: Values) => void;
}

export function VariableFields({ projectId, timezone, variables, values, choose }: Props) {
  return (
    <div className={style.variables}>
      {Object.entries(variables).map(([name, variable]) => {
        const label = variable.label ?? (name === 'range' ? dashboardsTexts.range : name);
        const field = {
          label,
          value: values[name] ?? '',
          set: (value: string): void => choose({ ...values, [name]: value }),
        };
        const range = variable.type === 'date_range' ? variable : toRange(name, variable);
        if (range !== undefined) return <RangeField key={name} {...field} variable={range} />;
        if (variable.type === 'input') return <InputField key={name} {...field} variable={variable} />;
        if (variable.type !== 'select') return null;
        return <SelectField key={name} {...field} {...{ projectId, timezone, variable }} />;
      })}
    </div>
  );
}

interface FieldProps {
  readonly label: string;
  /** Empty: the default applies. */
  readonly value: string;
  readonly set: (value: string) => void;
}

const RANGES = [
  'today',
  'yesterday',
  'last 7d',
  'last 30d',
  'last 90d',
  'this week',
  'this month',
  'last month',
  'this year',
] as const;
const DEFAULT_RANGE = 'last 7d';

const nameOfRange = (range: string, options: RangeVariable['options'] = []): string =>
  options.find(({ value }) => expandRange(value) === range)?.label ??
  (dashboardsTexts.ranges as Readonly<Record<string, string>>)[range] ??
  range;

/** The ranges of the document come before those of every dashboard. */
function RangeField({ label, value, set, variable }: FieldProps & { variable: RangeVariable }) {
  const options = variable.options?.filter((option) => option.value !== CUSTOM_RANGE) ?? [];
  const otherwise = expandRange(variable.default ?? DEFAULT_RANGE);
  const current = expandRange(value) || otherwise;
  const days = toDays(current);
  /** The choice above which the fields of a custom range were opened. */
  const [openedOver, setOpenedOver] = useState<string>();
  const isCustom = days !== undefined || openedOver === value;
  const own = options.map((option) => expandRange(option.value));
  const known = [...new Set<string>([...own, ...RANGES, otherwise, ...(days === undefined ? [current] : [])])].filter(
    (each) => toDays(each) === undefined,
  );
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    setOpenedOver(undefined);
    set(daysIn(new FormData(event.currentTarget)));
  };
  return (
    <div className={style.range}>
      <label className={style.variable}>
        {label}
        <select
          className="field"
          value={isCustom ? CUSTOM_RANGE : current}
          onChange={({ target }) => {
            const wantsCustom = target.value === CUSTOM_RANGE;
            setOpenedOver(wantsCustom ? value : undefined);
            if (!wantsCustom) set(target.value === otherwise ? '' : target.value);
          }}
        >
          {known.map((range) => (
            <option key={range} value={range}>
              {nameOfRange(range, variable.options)}
            </option>
          ))}
          <option value={CUSTOM_RANGE}>{dashboardsTexts.custom}</option>
        </select>
      </label>
      {isCustom && (
        <form className={style.dates} onSubmit={submit}>
          <DateFields days={days} className={style.variable} />
          <button type="submit" className="button">
            {dashboardsTexts.apply}
          </button>
        </form>
      )}
    </div>
  );
}

type Input = Extract<Variable, { type: 'input' }>;

/** With a button, what is typed applies by it and by Enter alone. */
function InputField({ label, value, set, variable }: FieldProps & { variable: Input }) {
  const hasButton = variable.submit === true;
  return (
    <form
      className={hasButton ? style.dates : style.variable}
      onSubmit={(event) => {
        event.preventDefault();
        set(String(new FormData(event.currentTarget).get('value')).trim());
      }}
    >
      <label className={style.variable}>
        {label}
        <input
          key={value}
          className="field"
          name="value"
          type="text"
          defaultValue={value}
          inputMode="email"
          required={variable.required === true && variable.default === undefined}
          placeholder={variable.placeholder ?? variable.default ?? dashboardsTexts.email}
          onBlur={({ target }) => {
            if (!hasButton && target.value.trim() !== value) set(target.value.trim());
          }}
        />
      </label>
      {hasButton && (
        <button type="submit" className="button">
          {dashboardsTexts.apply}
        </button>
      )}
    </form>
  );
}

type Select = Extract<Variable, { type: 'select' }>;

interface SelectProps extends FieldProps {
  readonly projectId: string;
  readonly timezone: string;
  readonly variable: Select;
}

function SelectField({ label, value, set, projectId, timezone, variable }: SelectProps) {
  const id = useId();
  const { data: options = [], error } = useOptions(projectId, timezone, variable);
  const otherwise = variable.default ?? variable.options?.[0]?.value ?? '';
  const current = value || otherwise;
  return (
    <div className={style.variable}>
      <label htmlFor={id}>{label}</label>
      <select
        id={id}
        className="field"
        value={current}
        onChange={({ target }) => set(target.value === otherwise ? '' : target.value)}
      >
        {otherwise === '' && <option value="">{dashboardsTexts.all}</option>}
        {current !== '' && options.every((option) => option.value !== current) && <option>{current}</option>}
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.label}
          </option>
        ))}
      </select>
      {error !== null && (
        <span role="alert" className={style.unread}>
          {texts.notLoaded}: {error.message}
        </span>
      )}
    </div>
  );
}

function useOptions(projectId: string, timezone: string, variable: Select) {
  const { options, query: q, ...columns } = variable;
  return useQuery({
    queryKey: ['options', projectId, timezone, variable],
    queryFn: async ({ signal }) => {
      const own = (options ?? []).map(({ value, label }) => ({ value, label: label ?? value }));
      if (q === undefined) return own;
      const answer = await paced(() => query({ projectId, q, timezone, limit: 1000 }, signal), signal);
      const valueColumn = findColumn(answer.columns, columns.value_column) ?? '';
      const labelColumn = findColumn(answer.columns, columns.label_column ?? valueColumn) ?? valueColumn;
      const found = answer.rows
        .filter((row) => row[valueColumn] !== null && row[valueColumn] !== undefined)
        .map((row) => ({ value: String(row[valueColumn]), label: String(row[labelColumn] ?? row[valueColumn]) }));
      return [...own, ...found.filter(({ value }) => own.every((option) => option.value !== value))];
    },
  });
}
