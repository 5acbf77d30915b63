// Type guard that filters out parts of a query that could not be resolved. Their problems were
// reported already.

export const isDefined = <T>(value: T | undefined): value is T => value !== undefined;
