// Documents with alerts and reports for tests, and the unsubscribe link of their mails.

export const DAILY = { query: 'purchase | last 1h | count', when: 'value < 1', every: '1d' };
export type AlertFields = Partial<typeof DAILY> & { readonly id?: string; readonly to?: readonly string[] };

export interface DocumentParts {
  readonly cards?: readonly object[];
  readonly reports?: readonly object[];
}

/** Fields that an alert leaves out are those of DAILY. */
export function alertDocument(
  alerts: readonly AlertFields[],
  { cards = [], reports = [] }: DocumentParts = {},
): string {
  const complete = alerts.map((alert, index) => ({
    ...{ id: `alert-${index}`, ...DAILY, to: ['https://x.invalid/'] },
    ...alert,
  }));
  return JSON.stringify({
    ...{ version: 1, title: 'Sales', sections: [{ title: 'S', cards }] },
    alerts: complete,
    reports,
  });
}

const card = (id: string, query: string) => ({ id, title: id, kind: 'table', viz: 'table', query });
export const REPORT_CARDS = [
  card('Orders', 'purchase | last 7d | count | compare previous'),
  card('Kinds', 'purchase | last 7d | count by event_properties.kind'),
];

export const reports = (...fields: readonly object[]) =>
  fields.map((field) => ({ id: 'monday', at: 'monday 08:00', timezone: 'Europe/Berlin', to: [], ...field }));

/** The path of the link in the header of a mail, whose lines may be wrapped. */
export function unsubscribePathIn(mail: string): string {
  const link = /^List-Unsubscribe:\s+<([^>]+)>/m.exec(mail)?.[1];
  return new URL(link?.replaceAll(/\s/g, '') ?? '').pathname;
}
