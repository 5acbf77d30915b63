// Types and common fields of the schemas of answers (answers.ts of each feature). Routes, the
// OpenAPI document and the console have their shapes from these schemas alone.
import { z } from 'zod';

/** What a route answers. */
export type AnswerOf<Schema extends z.ZodType> = Frozen<z.output<Schema>>;

/** The same as JSON, as clients read it. */
export type JsonOf<Schema extends z.ZodType> = Frozen<z.input<Schema>>;

type Frozen<T> = T extends Date ? T : T extends object ? { readonly [Key in keyof T]: Frozen<T[Key]> } : T;

/** A Date in the service, text in JSON. */
export const instant = z.codec(z.iso.datetime(), z.date(), {
  decode: (text) => new Date(text),
  encode: (date) => date.toISOString(),
});

export const count = z.int().min(0);
