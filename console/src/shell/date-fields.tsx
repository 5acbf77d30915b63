// Two fields for the first and the last day of a range.
import { type Days, fromDays } from '../language/days.js';
import { texts } from '../texts.js';

/** Browsers take years of six digits, which no range has. */
const LAST_DAY = '9999-12-30';

interface Props {
  readonly days: Days | undefined;
  readonly className?: string | undefined;
}

export function DateFields({ days, className }: Props) {
  return (['from', 'to'] as const).map((name) => {
    const value = name === 'from' ? days?.from : days?.last;
    return (
      <label key={name} className={className}>
        {texts.dates[name]}
        <input key={value} className="field" type="date" name={name} required max={LAST_DAY} defaultValue={value} />
      </label>
    );
  });
}

/** The stage of the days in a form with these fields. */
export const daysIn = (form: FormData): string => fromDays(String(form.get('from')), String(form.get('to')));
