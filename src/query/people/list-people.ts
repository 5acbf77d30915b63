// Plan of lists of people: the people behind an answer, each with their profile if there is one.
import type { ColumnOrder, ResolvedQuery, TimeRange } from '../analyze/resolved.js';
import { PEOPLE_COLUMNS, PEOPLE_MODE } from '../people-columns.js';
import { orderBy, orderByColumns, pageOf, passThrough, planAnswer } from '../plan/answer.js';
import { alias, column, type Expression } from '../plan/expressions.js';
import { person, personText } from '../plan/field-expressions.js';
import { fn } from '../plan/functions.js';
import { type Columns, type OrderBy, type Plan, type Select, select, step } from '../plan/plan.js';
import { PROFILE_FIELDS, PROFILE_KEYS } from '../profile-fields.js';
import { optionalProfileColumns, PROFILE_PERSON } from './profile-select.js';
import type { PlanContext } from './scan.js';

const PERSON = 'person';
/** The text of the person. */
const ID = 'distinct_id';
/** The time of the event that made them one of the list. */
const AT = 'decided_at';

/** Columns that tell a person apart, of selects over events that are grouped by person. */
export const personColumns: Columns = { [PERSON]: person, [ID]: fn.any(personText) };
/** The same columns without the person. */
export const idColumn: Columns = { [ID]: fn.any(personText) };

export const passPerson: Columns = passThrough(PERSON, ID);

/** A row of the list, from columns of `personColumns`. */
export const toPerson = (at: Expression): Columns => ({ ...passPerson, [AT]: at });

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
  // Where profiles do not order the list, they are joined to the people of the page.
  const page = order.every(({ column: name }) => OF_PEOPLE.some((of) => of.name === name))
    ? { orderBy: orderByColumns({ columns: passThrough(ID, AT), orderBy: NEWEST_FIRST }, OF_PEOPLE, order) }
    : undefined;
  const { limit, offset } = pageOf(context, query.rowsMax);
  return planAnswer({
    query,
    range,
    context,
    mode: PEOPLE_MODE,
    order,
    isPaged: page !== undefined,
    select: select({
      columns: { ...passThrough(ID, ...fields), properties, ...passThrough(AT) },
      from: {
        kind: 'matched',
        rows: step('listed_people', page ? { ...people, ...page, limit, offset } : people),
        others: step('profiles_of_people', selectAllProfiles(context)),
        on: { row: PERSON, other: PROFILE_PERSON },
      },
      orderBy: NEWEST_FIRST,
    }),
    columns: PEOPLE_COLUMNS,
    ...(metadata && { metadata }),
  });
}

const NEWEST_FIRST: readonly OrderBy[] = [orderBy(AT, 'desc'), orderBy(ID)];
/** The columns of the answer that the events of a person give. */
const OF_PEOPLE = PEOPLE_COLUMNS.filter(({ name }) => name === 'distinct_id' || name === 'at');

const PROPERTIES = ['props_str', 'props_num', 'props_bool'] as const;

const selectAllProfiles = ({ projectId }: PlanContext): Select =>
  select({
    columns: {
      [PROFILE_PERSON]: column('user_hash'),
      ...optionalProfileColumns(PROFILE_KEYS),
      ...Object.fromEntries(PROPERTIES.map((map) => [map, column(map)])),
    },
    from: { kind: 'profiles', projectId, filter: [] },
  });
