// What the outbox sends: a change of an alert, or a report, in the forms that mails and webhooks
// take.
import type { ReportCard } from '../reports/answers.js';
import * as reports from '../reports/message.js';
import * as alerts from './message.js';
import type { Row } from './when.js';

export type OutboxMessage = alerts.AlertMessage | reports.ReportMessage;

/** A message and its rows, which an erasure may have removed. */
export interface Outgoing {
  readonly message: OutboxMessage;
  readonly rows: readonly unknown[] | undefined;
}

export interface MailContent {
  readonly subject: string;
  readonly text: string;
  readonly html?: string;
}

type Content =
  | { readonly report: reports.ReportMessage; readonly cards: readonly ReportCard[] | undefined }
  | { readonly alert: alerts.AlertMessage; readonly rows: readonly Row[] };

// The rows are those that were stored with the message.
const contentOf = ({ message, rows }: Outgoing): Content =>
  'report' in message
    ? { report: message, cards: rows as readonly ReportCard[] | undefined }
    : { alert: message, rows: (rows ?? []) as readonly Row[] };

export function toMailContent(outgoing: Outgoing, unsubscribeUrl: string): MailContent {
  const content = contentOf(outgoing);
  const footer = `\n\nUnsubscribe: ${unsubscribeUrl}\n`;
  if ('alert' in content) {
    const { alert, rows } = content;
    return { subject: alerts.toSubject(alert), text: alerts.toText(alert, rows) + footer };
  }
  const { report, cards } = content;
  return {
    subject: reports.toSubject(report),
    text: reports.toText(report, cards) + footer,
    html: reports.toHtml(report, cards, unsubscribeUrl),
  };
}

export function toHookBody(outgoing: Outgoing, deliveryId: string): string {
  const content = contentOf(outgoing);
  return 'alert' in content
    ? alerts.toWebhookBody(content.alert, content.rows, deliveryId)
    : reports.toWebhookBody(content.report, content.cards, deliveryId);
}
