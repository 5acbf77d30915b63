// Texts of the list of keyboard shortcuts.

export const shortcutTexts = {
  title: 'Keyboard shortcuts',
  rows: [
    [['/'], 'Go to the query'],
    [['Ctrl', 'Enter'], 'Run the query'],
    [['Ctrl', 'K'], 'Go to a screen, a project or an earlier query'],
    [['?'], 'Show these shortcuts'],
  ] as const,
  open: (screen: string) => `Open ${screen}`,
  note: 'Single letters can be switched off in the account menu.',
} as const;
