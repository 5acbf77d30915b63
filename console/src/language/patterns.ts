// RE2, loaded with the first query that has a regular expression: it is larger than all else of the
// language. Until then every expression counts as valid. The build puts this file in the place of
// the library's entry (vite.config.ts).
type Library = typeof import('re2js');

let library: Library | undefined;

export async function loadPatterns(): Promise<void> {
  library ??= await import('re2js');
}

export const RE2JS = { compile: (pattern: string): unknown => library?.RE2JS.compile(pattern) };

/** Instances are those of the library's class. */
export const RE2JSSyntaxException = {
  [Symbol.hasInstance]: (error: unknown): boolean =>
    library !== undefined && error instanceof library.RE2JSSyntaxException,
};
