// Errors in the words of a ClickHouse server: `Code: 159. DB::Exception: … (TIMEOUT_EXCEEDED)` and its HTTP status.

/** The codes that the front itself raises, with their names. */
const CODE_OF_TYPE = {
  BAD_ARGUMENTS: 36,
  NOT_IMPLEMENTED: 48,
  UNKNOWN_SETTING: 115,
  QUERY_IS_TOO_LARGE: 202,
  QUERY_WITH_SAME_ID_IS_ALREADY_RUNNING: 216,
  QUERY_WAS_CANCELLED: 394,
  CANNOT_SCHEDULE_TASK: 439,
} as const;

/** The code of what is no error of the engine, but of the front: a bug, or the machine's. */
export const UNKNOWN_EXCEPTION = 1002;

export class EngineError extends Error {
  readonly code: number;

  constructor(code: number, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'EngineError';
    this.code = code;
  }

  get status(): number {
    return STATUS_OF_CODE.get(this.code) ?? 500;
  }
}

export function engineError(type: keyof typeof CODE_OF_TYPE, message: string): EngineError {
  const code = CODE_OF_TYPE[type];
  return new EngineError(code, `Code: ${code}. DB::Exception: ${message}. (${type})`);
}

/** What the engine threw, as an EngineError. Its text already has the form of a server's. */
export function toEngineError(error: unknown): EngineError {
  if (error instanceof EngineError) return error;
  const message = error instanceof Error ? error.message : String(error);
  const code = /^Code: (\d+)\./.exec(message)?.[1];
  if (code !== undefined) return new EngineError(Number(code), message, { cause: error });
  const text = `Code: ${UNKNOWN_EXCEPTION}. DB::Exception: ${message}. (UNKNOWN_EXCEPTION)`;
  return new EngineError(UNKNOWN_EXCEPTION, text, { cause: error });
}

// As in HTTPHandler.cpp of the server; whatever is not listed is 500.
const STATUS_OF_CODE: ReadonlyMap<number, number> = new Map([
  // Not parsed: syntax, dates, numbers, text, wrong types, bad arguments.
  ...[6, 25, 26, 27, 36, 38, 41, 53, 62, 69, 72, 117, 162, 167, 168, 170, 427, 457].map((code) => [code, 400] as const),
  [164, 403],
  // Not found: identifiers, functions, tables, settings, types, formats, databases, aggregate functions.
  ...[46, 47, 50, 56, 60, 63, 73, 78, 81, 115, 336].map((code) => [code, 404] as const),
  [202, 413],
  [48, 501],
  [439, 503],
]);
