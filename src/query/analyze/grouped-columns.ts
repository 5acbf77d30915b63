// SQL aliases of the columns of grouped rows: `metric`, `group_1`, …
export const METRIC = 'metric';
/** Alias of a column of a formula. */
export const resultAlias = (index: number): string => `result_${index + 1}`;
export const groupAlias = (index: number): string => `group_${index + 1}`;
/** The number of an entity, of which the metric is an aggregate. */
export const VALUE_OF_ENTITY = 'value_of_entity';
