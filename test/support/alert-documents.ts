// Documents with alerts for tests, and the unsubscribe link of their mails.

export const DAILY = { query: 'purchase | last 1h | count', when: 'value < 1', every: '1d' };
export type AlertFields = Partial<typeof DAILY> & { readonly id?: string; readonly to?: readonly string[] };

/** A dashboard without cards; fields that an alert leaves out are those of DAILY. */
export function alertDocument(alerts: readonly AlertFields[]): string {
  const complete = alerts.map((alert, index) => ({
    ...{ id: `alert-${index}`, ...DAILY, to: ['https://x.invalid/'] },
    ...alert,
  }));
  return JSON.stringify({
    ...{ version: 1, title: 'Sales', sections: [{ title: 'S', cards: [] }] },
    alerts: complete,
  });
}

/** The path of the link in the header of a mail, whose lines may be wrapped. */
export function unsubscribePathIn(mail: string): string {
  const link = /^List-Unsubscribe:\s+<([^>]+)>/m.exec(mail)?.[1];
  return new URL(link?.replaceAll(/\s/g, '') ?? '').pathname;
}
