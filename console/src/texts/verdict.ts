// Texts of the verdict of an experiment, which the chart of its result loads.

export const verdictTexts = {
  invalid: (counts: string, expected: string) =>
    `The result is not valid: the units (${counts}) are not split as the weights say (${expected}).`,
  units: (count: string, variant: string) => `${count} “${variant}”`,
  weights: (shares: readonly string[]) => shares.join(' to '),
  oneVariant: 'Too early to say: there is only one variant so far.',
  collecting: (variant: string, people: string, conversions: string) =>
    `Too early to say: “${variant}” has ${people} people and ${conversions} conversions so far.`,
  aTreatment: 'A treatment is better than the control.',
  better: (better: string, worse: string, rates: string) => `“${better}” is better than “${worse}”: ${rates}.`,
  control: 'The control is better than every treatment.',
  noneProven: 'No difference is proven so far.',
  between: (treatment: string, low: string, high: string, control: string) =>
    `No difference is proven: “${treatment}” is between ${low} and ${high} of “${control}”.`,
  points: ' points',
  rates: (better: string, worse: string, difference: string) =>
    `${better} against ${worse}, a difference of ${difference}`,
} as const;
