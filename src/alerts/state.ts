// States of an alert. Each check moves it: `ok` and `firing` follow the condition at once,
// `failing` three failed checks in a row. A message is sent when the state changes, and only then.

export const STATES = ['ok', 'firing', 'failing'] as const;
export type AlertState = (typeof STATES)[number];

export const OUTCOMES = ['ok', 'firing', 'failed'] as const;
/** The result of one check. */
export type Outcome = (typeof OUTCOMES)[number];

export interface Standing {
  readonly state: AlertState;
  /** Failed checks in a row. */
  readonly failures: number;
}

const FAILURES_TOLD = 3;

export function advance({ state, failures }: Standing, outcome: Outcome): Standing {
  if (outcome !== 'failed') return { state: outcome, failures: 0 };
  const failed = failures + 1;
  return { state: failed >= FAILURES_TOLD ? 'failing' : state, failures: failed };
}
