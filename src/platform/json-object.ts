// Reads untyped values of JSON: objects and texts.

export type JsonObject = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const NOTHING: JsonObject = Object.freeze({});

/** The object; empty for anything else. */
export const objectOf = (value: unknown): JsonObject => (isObject(value) ? value : NOTHING);

/** Undefined for empty text and for anything but text. */
export const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;
