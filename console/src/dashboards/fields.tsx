// Fields of the forms of a dashboard: a choice below its label, and the text of a query.
import type { ComponentProps } from 'react';
import { QueryField } from '../ask/query-field.js';
import editing from './editing.module.css';

interface SelectProps extends Omit<ComponentProps<'select'>, 'className' | 'onChange' | 'children'> {
  readonly label: string;
  readonly options: readonly (readonly [value: string | number, text: string])[];
  readonly choose?: (value: string) => void;
}

export function LabelledSelect({ label, options, choose, ...rest }: SelectProps) {
  return (
    <label>
      {label}
      <select className="field" {...rest} onChange={choose && (({ target }) => choose(target.value))}>
        {options.map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}

interface QueryProps {
  readonly projectId: string;
  readonly timezone: string;
  readonly value: string;
  readonly change: (text: string) => void;
}

/** May name variables of the dashboard. It is checked while it is typed, and not run. */
export function CardQueryField({ projectId, timezone, value, change }: QueryProps) {
  return (
    <div className={editing.query}>
      <QueryField
        projectId={projectId}
        timezone={timezone}
        value={value}
        onChange={change}
        onRun={NOTHING}
        apply={change}
        rejected={NONE}
        isTemplate
      />
    </div>
  );
}

const NONE: readonly never[] = [];
const NOTHING = (): void => {};
