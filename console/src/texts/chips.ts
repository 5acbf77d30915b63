// Texts of the parts of a query, which are loaded with their buttons.
export const chipTexts = {
  label: 'Parts of the query',
  kinds: {
    source: 'Source',
    event: 'Event',
    time: 'Time range',
    filter: 'Filter',
    measure: 'Measure',
    group: 'Group by',
    window: 'Window',
    compare: 'Compare',
    text: 'Stage',
  },
  add: (kind: string) => `Add: ${kind}`,
  picks: 'Names',
  editAsText: ', edit as text',
  /** Each as it is written: how long after the first event. */
  windows: ['1h', '1d', '7d', '30d'].map((length) => `window ${length}`),
  move: { earlier: 'Move one step earlier', later: 'Move one step later' },
  remove: 'Remove',
  apply: 'Apply',
  of: 'Of',
  field: 'Field',
  operator: 'Comparison',
  value: 'Value',
  days: 'Days, both included',
  comparisons: [
    ['compare previous', 'the period before'],
    ['compare weekdays', 'the same weekdays before'],
    ['compare 1y', 'a year earlier'],
  ] as const,
  earlierDays: 'Earlier days, both included',
} as const;
