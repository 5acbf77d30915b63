// Classifies failures of PostgreSQL: permanent when caused by the data, otherwise transient.

/** Classes of SQLSTATE: data exception, integrity constraint violation, program limit exceeded. */
const REFUSED_CLASSES: ReadonlySet<string> = new Set(['22', '23', '54']);

export const isRefusedData = (error: unknown): boolean =>
  error instanceof Error &&
  'code' in error &&
  typeof error.code === 'string' &&
  error.code.length === 5 &&
  REFUSED_CLASSES.has(error.code.slice(0, 2));
