// What an upload answers, line by line: its progress, and at the end a summary or an error. The
// console reads them, so this module imports nothing.

export interface ProgressLine {
  readonly progress: {
    readonly read: number;
    readonly skipped: number;
    readonly identities: number;
    readonly bytes_read: number;
    readonly bytes_total: number;
    readonly elapsed_ms: number;
  };
}

export interface SummaryLine {
  readonly summary: {
    readonly read: number;
    readonly events: number;
    readonly stored: number | null;
    readonly already_there: number | null;
    readonly dropped: number;
    readonly refused: number;
    readonly links: number;
    readonly profiles: number;
    readonly skipped: readonly {
      readonly reason: string;
      readonly count: number;
      readonly places: readonly string[];
    }[];
    /** ISO 8601, as is `last`. */
    readonly first: string | null;
    readonly last: string | null;
    readonly people: Distinct;
    readonly devices: Distinct;
  };
}

export interface Distinct {
  readonly count: number;
  readonly is_exact: boolean;
}

export interface ErrorLine {
  readonly error: string;
}

export type UploadLine = ProgressLine | SummaryLine | ErrorLine;
