// Texts of the result of an experiment, which its drawing loads.

export const choiceTexts = {
  variant: 'Variant',
  variants: 'Variants',
  converted: 'Converted',
  rate: 'Rate',
  mean: 'Mean',
  interval: 'Interval, 95 %',
  between: (low: string, high: string) => `${low} to ${high}`,
  conversion: (verdict: string) => `${verdict} Conversion by variant`,
  convertedOf: (converted: string, people: string) => `${converted} of ${people}`,
  differences: 'Differences from the control',
  against: (control: string) => `Against “${control}”`,
  difference: 'Difference',
  atEveryLook: 'Interval at every look',
  plan: (of: { lift: string; power: string; needed: string; left: string | undefined; days: string | undefined }) =>
    of.left === undefined
      ? `${of.needed} people show a lift of ${of.lift} with ${of.power} power; there are enough.`
      : `To show a lift of ${of.lift} with ${of.power} power, ${of.left} more people are needed${of.days === undefined ? '' : `, about ${of.days}`}; ${of.needed} in all.`,
} as const;
