// Shares in answers: which columns have them, and their text. The console and reports show `12.5 %`
// for 0.125.

const THIN_SPACE = '\u202f';

/** By the mode of the answer; values are from 0 to 1. */
const SHARES: Readonly<Record<string, readonly string[]>> = {
  aggregate: ['share'],
  user: ['share'],
  funnel: ['rate', 'step_rate', 'within_1m', 'within_1h', 'within_1d', 'within_7d', 'within_30d'],
  retention: ['rate'],
  sessions: ['bounce_rate'],
  choice: ['rate', 'ci_low', 'ci_high', 'share'],
};

/** `hasMeans`: the answer of a choice by a value, which has means in the place of rates. */
export const isShare = (mode: string, column: string, hasMeans: boolean): boolean =>
  !(mode === 'choice' && hasMeans) && SHARES[mode]?.includes(column) === true;

export const percent = (share: number): string =>
  `${(share * 100).toLocaleString('en', { minimumFractionDigits: 1, maximumFractionDigits: 1 })}${THIN_SPACE}%`;

/** A relative change, with its sign. */
export const change = (share: number): string =>
  `${(share * 100).toLocaleString('en', { signDisplay: 'exceptZero', maximumFractionDigits: 1 })}${THIN_SPACE}%`;
