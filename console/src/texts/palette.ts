// Texts of the command palette, which loads them.
export const paletteTexts = {
  first: (shown: number, total: number) =>
    `The first ${shown} of ${total.toLocaleString('en')}. More words find the others.`,
  partOf: (screen: string, part: string) => `${screen}: ${part}`,
  kinds: { screen: 'Screen', project: 'Project', dashboard: 'Dashboard', query: 'Query' },
} as const;
