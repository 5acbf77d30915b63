// Form of an experiment's results: goal event, measure, time range of exposures, conversion window
// and guards.
import type { Names } from '../api/answer.js';
import { Icon } from '../shell/icon.js';
import { experimentTexts } from '../texts/experiments.js';
import style from './experiments.module.css';
import { MEASURES, type Measure, PLANS, RANGES, type Setup, WINDOWS } from './setup.js';

interface Props {
  readonly setup: Setup;
  readonly names: Names | undefined;
  readonly change: (next: Partial<Setup>) => void;
}

const PROPERTY = 'event_properties.';
const HIDDEN = 'service.';

export function Controls({ setup, names, change }: Props) {
  const { goal, measure, property, range, window, plan, guards } = setup;
  const events = (names?.events ?? []).map(({ name }) => name).filter((name) => !name.startsWith(HIDDEN));
  const goals = goal === undefined || events.includes(goal) ? events : [goal, ...events];
  const properties = (names?.fields ?? [])
    .filter(({ name, detail }) => name.startsWith(PROPERTY) && /number/.test(detail))
    .map(({ name }) => name.slice(PROPERTY.length));
  return (
    <section className={style.controls} aria-label={experimentTexts.setup}>
      <Select label={experimentTexts.goal} value={goal ?? ''} items={goals} choose={(to) => change({ goal: to })} />
      <Select
        label={experimentTexts.measure}
        value={measure}
        items={MEASURES}
        names={experimentTexts.measures}
        choose={(to) => change({ measure: to as Measure, property: property || (properties[0] ?? '') })}
      />
      {measure !== 'converted' && (
        <Select
          label={experimentTexts.property}
          value={property}
          items={property === '' || properties.includes(property) ? properties : [property, ...properties]}
          choose={(to) => change({ property: to })}
        />
      )}
      <Select
        label={experimentTexts.window}
        value={window}
        items={WINDOWS}
        names={experimentTexts.windows}
        choose={(to) => change({ window: to as Setup['window'] })}
      />
      <Select
        label={experimentTexts.range}
        value={range}
        items={RANGES}
        names={experimentTexts.ranges}
        choose={(to) => change({ range: to as Setup['range'] })}
      />
      <Select
        label={experimentTexts.plan}
        value={plan}
        items={PLANS}
        names={{ off: experimentTexts.noPlan }}
        choose={(to) => change({ plan: to as Setup['plan'] })}
      />
      <div className={style.guards}>
        <Select
          label={experimentTexts.guards}
          value=""
          items={['', ...events.filter((name) => name !== goal && !guards.includes(name))]}
          names={{ '': experimentTexts.addGuard }}
          choose={(to) => to !== '' && change({ guards: [...guards, to] })}
        />
        {guards.map((guard) => (
          <button
            key={guard}
            type="button"
            className={`button small ${style.guard}`}
            aria-label={experimentTexts.removeGuard(guard)}
            onClick={() => change({ guards: guards.filter((each) => each !== guard) })}
          >
            {guard}
            <Icon name="close" size={14} />
          </button>
        ))}
      </div>
    </section>
  );
}

interface SelectProps {
  readonly label: string;
  readonly value: string;
  readonly items: readonly string[];
  readonly names?: Readonly<Record<string, string>>;
  readonly choose: (item: string) => void;
}

function Select({ label, value, items, names = {}, choose }: SelectProps) {
  return (
    <label className={style.control}>
      <span>{label}</span>
      <select className="field" value={value} onChange={({ target }) => choose(target.value)}>
        {!items.includes(value) && <option value={value}>{value}</option>}
        {items.map((item) => (
          <option key={item} value={item}>
            {names[item] ?? item}
          </option>
        ))}
      </select>
    </label>
  );
}
