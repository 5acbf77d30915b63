// Plan of lists of people: the people behind an answer, each with their profile if there is one.
import type { ColumnOrder, ResolvedQuery, TimeRange } from '../analyze/resolved.js';
import { PEOPLE_COLUMNS, PEOPLE_MODE } from '../people-columns.js';
import { orderBy, passThrough, planAnswer } from '../plan/answer.js';
import { alias, column, type Expression } from '../plan/expressions.js';
import { person, personText } from '../plan/field-expressions.js';
import { fn } from '../plan/functions.js';
import { type Columns, type Plan, type Select, select, step } from '../plan/plan.js';
import { PROFILE_FIELDS, PROFILE_KEYS } from '../profile-fields.js';
import { PROFILE_PERSON } from './profile-select.js';
import type { PlanContext } from './scan.js';

const PERSON = 'person';
/** The text of the person. */
const ID = 'distinct_id';

/** Columns that tell a person apart, of selects over events that are grouped by person. */
export const personColumns: Columns = { [PERSON]: person, [ID]: fn.any(personText) };
/** Those beside the person. */
export const idColumn: Columns = { [ID]: fn.any(personText) };

export const passPerson: Columns = passThrough(PERSON, ID);

/** A row of the list, from columns of `personColumns`. */
export const toPerson = (at: Expression): Columns => ({ ...passPerson, decided_at: at });

interface ListParts {
  readonly query: ResolvedQuery;
  readonly range: TimeRange;
  readonly order: readonly ColumnOrder[];
  /** One row per person: columns of `toPerson`. */
  readonly people: Select;
  readonly metadata?: Plan['metadata'];
}

export function planPeopleList(context: PlanContext, { query, range, order, people, metadata }: ListParts): Plan {
  const fields = PROFILE_KEYS.map((key) => PROFILE_FIELDS[key].column);
  const hasProfile = fn.isNotNull(alias(PROFILE_FIELDS.first_seen.column));
  const properties = fn.tuple(...PROPERTIES.map((map) => alias(map)), hasProfile);
  return planAnswer({
    query,
    range,
    context,
    mode: PEOPLE_MODE,
    order,
    select: select({
      columns: { ...passThrough(ID, ...fields), properties, ...passThrough('decided_at') },
      from: {
        kind: 'matched',
        rows: step('listed_people', people),
        others: step('profiles_of_people', selectAllProfiles(context)),
        on: { row: PERSON, other: PROFILE_PERSON },
      },
      orderBy: [orderBy('decided_at', 'desc'), orderBy(ID)],
    }),
    columns: PEOPLE_COLUMNS,
    ...(metadata && { metadata }),
  });
}

const PROPERTIES = ['props_str', 'props_num', 'props_bool'] as const;

/** Times are nullable, so that a person without a profile has null instead of 1970. */
const selectAllProfiles = ({ projectId }: PlanContext): Select =>
  select({
    columns: {
      [PROFILE_PERSON]: column('user_hash'),
      ...Object.fromEntries(
        PROFILE_KEYS.map((key) => {
          const { column: name, type } = PROFILE_FIELDS[key];
          return [name, type === 'optional_time' ? fn.toNullable(column(key)) : column(key)];
        }),
      ),
      ...Object.fromEntries(PROPERTIES.map((map) => [map, column(map)])),
    },
    from: { kind: 'profiles', projectId, filter: [] },
  });
