// Names of the columns of grouped rows in a statement.
export const METRIC = 'metric';
export const groupAlias = (index: number): string => `group_${index + 1}`;
