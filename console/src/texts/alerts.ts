// Texts of the screen Alerts, which loads them.
import { plural } from './plural.js';

type State = 'ok' | 'firing' | 'failing';

const STATES = { ok: 'OK', firing: 'Firing', failing: 'Failing' } as const;

const countOf = <T>(items: readonly T[], wanted: T): number => items.filter((item) => item === wanted).length;

export const alertTexts = {
  new: 'New alert',
  search: 'Search alerts',
  none: 'No alerts yet',
  noneNote: 'An alert asks a question again and again, and tells webhooks and mailboxes when its condition turns.',
  gone: 'There is no such alert. It may have been removed from its dashboard.',
  states: STATES,
  outcomes: { ok: 'Calm', firing: 'Holds', failed: 'Failed' },
  summary: (states: readonly State[]): string =>
    (['firing', 'failing', 'ok'] as const)
      .filter((state) => states.includes(state))
      .map((state) => `${countOf(states, state)} ${STATES[state]}`)
      .join(' · '),
  since: (state: State, at: string) => `${STATES[state]} since ${at}`,
  neverChanged: (state: State) => `${STATES[state]}, has not changed`,
  notChecked: 'Not checked yet',
  checkedAt: (at: string) => `Checked ${at}`,
  valueAt: (value: string, at: string) => `Last value ${value}, ${at}`,
  failedAt: (at: string) => `The last check failed, ${at}`,
  every: (interval: string) => `every ${interval}`,
  about: 'About the alert',
  query: 'Query',
  when: 'Condition',
  state: 'State',
  lastCheck: 'Last check',
  nextCheck: 'Next check',
  to: 'Sent to',
  writtenIn: 'Written in',
  synced: 'synced from a repository, and changed there',
  editText: 'Edit in the text',
  ask: 'Open in Ask',
  dryRun: 'Dry run',
  wouldSend: 'This would be sent now.',
  nothingSent: (state: State) => `Nothing would be sent: the state stays ${STATES[state]}.`,
  holds: (isFiring: boolean) => (isFiring ? 'The condition holds.' : 'The condition does not hold.'),
  checkFailed: 'The check failed.',
  valueIs: (value: string) => `The value is ${value}.`,
  checks: 'Last 100 checks',
  columns: ['Checked', 'Condition', 'Value', 'State', 'Messages'],
  columnsName: (outcomes: readonly ('ok' | 'firing' | 'failed')[]): string =>
    `${plural(outcomes.length, 'check')}: the condition held in ${countOf(outcomes, 'firing')}, ${countOf(outcomes, 'failed')} failed`,
  deliveries: { waiting: 'waiting', sent: 'sent', failed: 'failed' },
  attempts: (count: number) => plural(count, 'attempt'),
  parts: 'Alerts and reports',
  reports: {
    title: 'Reports',
    search: 'Search reports',
    none: 'No reports yet',
    noneNote: 'A report sends a whole dashboard at a local time. It is written in the text of a dashboard:',
    example: 'An example',
    next: (at: string) => `Next ${at}`,
    last: (at: string) => `Last ${at}`,
    never: 'Not sent yet',
    runs: 'Last runs',
    runsOf: (report: string) => `Last runs of ${report}`,
    dryRunOf: (report: string) => `Dry run of ${report}`,
    columns: ['Run', 'Result', 'Messages'],
    ran: 'Ran',
    failed: 'Failed',
  },
  form: {
    id: 'Name',
    dashboard: 'Dashboard',
    every: 'Checked every',
    intervals: { '1m': 'minute', '5m': '5 minutes', '15m': '15 minutes', '1h': 'hour', '6h': '6 hours', '1d': 'day' },
    whenNote: 'Such as value < 5, all value > 100, no rows; with compare previous in the query, change < -0.3',
    toExample: 'ops@example.com https://hooks.example.com/…',
    toNote: 'Mailboxes and webhooks, one on each line.',
    newDashboard: 'New dashboard',
    dashboardTitle: 'Alerts',
    cannotAdd: 'Alerts are added by admins and owners. Show the text, and give it to one of them.',
    askFirst: 'Ask a question first',
    askNote: 'Its answer has New alert, under Add to dashboard.',
    asText: 'Text of the alert',
    showText: 'Show as text',
    cancel: 'Cancel',
    add: 'Add alert',
  },
} as const;
