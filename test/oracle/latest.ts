// Reference implementation of `latest`: the newest non-empty value per entity.
import { aggregateColumns, aggregated, METRICS } from './aggregate.js';
import { intervalOf, toRfc3339 } from './calendar.js';
import { eventsOf } from './events.js';
import { eventField } from './fields.js';
import type { LatestQuestion } from './question.js';
import { type Answer, type Cell, ended, inAnyOrder } from './table.js';
import { hasValue, textOf, type Value } from './values.js';
import type { World } from './world.js';

interface LatestValue {
  readonly entity: string;
  readonly value: Value;
  readonly time: number;
}

export function answerLatest(question: LatestQuestion, world: World): Answer {
  const { timezone } = world.clock;
  const interval = intervalOf(question.range, { count: 7, unit: 'd' }, world.clock);
  const items = latestValues(question, world, interval);
  const { reading, ending } = question;
  if (reading?.kind !== 'aggregate') {
    const rows = items.map(({ entity, value, time }) => ({
      entity,
      last_value: cellOf(value),
      set_at: toRfc3339(time),
    }));
    const columns = ['entity', 'last_value', 'set_at'];
    // The specification does not say whether the value keeps its type, so its text is compared.
    return { mode: 'latest_aggregate', columns, asText: ['last_value'], ...ended(inAnyOrder(rows), ending, undefined) };
  }
  const { aggregate, by, having } = reading;
  const table = aggregated({
    items,
    ending,
    having,
    aggregate,
    by,
    read: (item, field) => (field === 'last_value' ? item.value : item.entity),
    timeOf: (item) => item.time,
    interval,
    timezone,
  });
  const columns = aggregateColumns(aggregate, by);
  return { mode: 'latest_aggregate', columns, ...ended(table, ending, METRICS[aggregate.kind]) };
}

function latestValues(question: LatestQuestion, world: World, interval: { start: number; end: number }): LatestValue[] {
  const read = eventField(world);
  const latest = new Map<string, LatestValue>();
  // Events are ordered by time and insert_id, so the last value of an entity is the newest.
  for (const event of eventsOf(world, question.event, interval, question.where)) {
    const value = read(event, question.field);
    const entity = textOf(read(event, question.per ?? 'distinct_id'));
    if (entity === undefined || !hasValue(value)) continue;
    latest.set(entity, { entity, value, time: event.time });
  }
  return [...latest.values()];
}

function cellOf(value: Value): Cell {
  return typeof value === 'object' && value !== null ? toRfc3339(value.instant) : (value ?? null);
}
