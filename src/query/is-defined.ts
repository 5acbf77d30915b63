// What of a query could not be read is undefined, and its problem is reported; whoever goes on with the rest leaves it out.

export const isDefined = <T>(value: T | undefined): value is T => value !== undefined;
