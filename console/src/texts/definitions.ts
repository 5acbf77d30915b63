// Texts of the screen Definitions, which loads them.

export const definitionTexts = {
  title: 'Edit definitions',
  text: 'Text of the definitions',
  problems: 'Problems of the definitions',
  versions: 'Versions of the definitions',
  back: 'Back to the list',
  kinds: { event: 'Events', cohort: 'Cohorts', metric: 'Metrics' },
  none: 'Nothing is defined yet',
  noneNote:
    'Define an event, a cohort or a metric once, and every query, dashboard, alert and agent means the same by its name.',
  example: 'An example',
  first: 'Write the first',
  memberNote: 'Admins and owners write them.',
  editHere: 'Edit here instead',
  syncedNote: 'They are synced from a repository, and changed there.',
  syncedVersions: 'They are synced from a repository, so their versions are restored there.',
  detachNote: 'These are synced from a repository. Its next sync replaces what is saved here.',
  ask: (name: string) => `Ask for ${name}`,
  editLine: (name: string, line: number) => `Edit ${name}, line ${line}`,
  unused: 'No dashboard, alert or definition uses it.',
  usedIn: 'Used in',
  usesFailed: (reason: string) => `Where they are used could not be read: ${reason}`,
  places: { card: 'Card', variable: 'Variable', alert: 'Alert', definition: 'Definition' },
  inDashboard: (place: string, title: string, dashboard: string) => `${place} ${title} · ${dashboard}`,
  inDefinition: (name: string) => `Definition ${name}`,
} as const;
