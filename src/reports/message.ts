// A report as plain text, as HTML without images or scripts, and as the JSON body of a webhook.
// Cells were formatted when the report was run (run-cards.ts).
import { flatten, toChat } from '../alerts/message.js';
import { type Html, html } from '../pages/html.js';
import type { ReportCard, ShownTable } from './answers.js';

export interface ReportMessage {
  /** The id in the document. */
  readonly report: string;
  /** Key and title of the dashboard. */
  readonly dashboard: string;
  readonly title: string;
  readonly schedule: string;
  readonly timezone: string;
  /** URL of the dashboard in the console. */
  readonly url: string;
  /** RFC 3339. */
  readonly at: string;
}

const WITHOUT_CONTENT =
  'The numbers were deleted while this report waited, because data of a person was erased. See the dashboard.';
const NO_CARDS = 'The dashboard has no cards with queries.';

export const toSubject = ({ title, report }: ReportMessage): string => `Report: ${flatten(title)} (${report})`;

/** `Monday, 23 November 2026, 08:00 (Europe/Berlin)`. */
function whenOf({ at, timezone: timeZone }: ReportMessage): string {
  const format = new Intl.DateTimeFormat('en-GB', {
    ...{ timeZone, weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' },
    ...{ hour: '2-digit', minute: '2-digit', hourCycle: 'h23' },
  });
  const parts = format.formatToParts(new Date(at));
  const of = (type: string): string => parts.find((part) => part.type === type)?.value ?? '';
  const date = `${of('day')} ${of('month')} ${of('year')}`;
  return `${of('weekday')}, ${date}, ${of('hour')}:${of('minute')} (${timeZone})`;
}

/** A row of numbers, which is read better as text than as a table. */
const isNumber = ({ rows, numbers, columns_left_out: left }: ShownTable): boolean =>
  rows.length === 1 && numbers.every(Boolean) && left === 0;

const numberLine = ({ columns, rows: [cells = []] }: ShownTable): string =>
  columns.length === 1 ? `${cells[0]}` : columns.map((column, index) => `${column} ${cells[index]}`).join(', ');

/** Undefined when everything is shown. */
function remarkOf({ rows, rows_before: before, total, columns_left_out: left }: ShownTable): string | undefined {
  const remarks = [
    ...(total > rows.length ? [`the ${before > 0 ? 'last' : 'first'} ${rows.length} of ${total} rows`] : []),
    ...(left > 0 ? [left === 1 ? 'without a column' : `without ${left} columns`] : []),
  ];
  return remarks.length === 0 ? undefined : remarks.join(', ');
}

/** `cards`: undefined after an erasure. */
export function toText(message: ReportMessage, cards: readonly ReportCard[] | undefined): string {
  const blocks = cards?.map((card) => `${flatten(card.title)}\n${'error' in card ? card.error : tableText(card)}`);
  const content = blocks === undefined ? [WITHOUT_CONTENT] : blocks.length === 0 ? [NO_CARDS] : blocks;
  return [`${toSubject(message)}\n${whenOf(message)}`, ...content, message.url].join('\n\n');
}

function tableText(table: ShownTable): string {
  if (table.rows.length === 0) return 'no rows';
  if (isNumber(table)) return numberLine(table);
  const lines = [table.columns, ...table.rows];
  const widths = table.columns.map((_, index) => Math.max(...lines.map((line) => line[index]?.length ?? 0)));
  const toLine = (cells: readonly string[]): string =>
    cells
      .map((cell, index) =>
        table.numbers[index] ? cell.padStart(widths[index] ?? 0) : cell.padEnd(widths[index] ?? 0),
      )
      .join('  ')
      .trimEnd();
  const remark = remarkOf(table);
  return [...lines.map(toLine), ...(remark === undefined ? [] : [`(${remark})`])].join('\n');
}

export function toHtml(
  message: ReportMessage,
  cards: readonly ReportCard[] | undefined,
  unsubscribeUrl: string,
): string {
  const content = cards === undefined ? html`<p>${WITHOUT_CONTENT}</p>` : html`${cards.map(cardHtml)}`;
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${toSubject(message)}</title></head>
<body style="font-family:sans-serif;line-height:1.4;max-width:48em">
<h1 style="font-size:1.4em">${flatten(message.title)}</h1>
<p>${whenOf(message)}</p>
${content}
${cards?.length === 0 ? html`<p>${NO_CARDS}</p>` : undefined}
<p><a href="${message.url}">Open the dashboard</a></p>
<p style="font-size:0.85em"><a href="${unsubscribeUrl}">Unsubscribe</a></p>
</body></html>
`.text;
}

function cardHtml(card: ReportCard): Html {
  const heading = html`<h2 style="font-size:1.1em;margin:1.5em 0 0.3em">${flatten(card.title)}</h2>\n`;
  if ('error' in card) return html`${heading}<p>${card.error}</p>\n`;
  if (card.rows.length === 0) return html`${heading}<p>no rows</p>\n`;
  if (isNumber(card)) return html`${heading}<p style="font-size:1.5em;margin:0">${numberLine(card)}</p>\n`;
  const remark = remarkOf(card);
  return html`${heading}${tableHtml(card)}${remark === undefined ? undefined : html`<p>${remark}</p>\n`}`;
}

function tableHtml({ columns, numbers, rows }: ShownTable): Html {
  const styleOf = (index: number): string =>
    `padding:2px 10px;border-bottom:1px solid #ccc;text-align:${numbers[index] ? 'right' : 'left'}`;
  const head = columns.map((column, index) => html`<th scope="col" style="${styleOf(index)}">${column}</th>`);
  const body = rows.map(
    (cells) => html`<tr>${cells.map((cell, index) => html`<td style="${styleOf(index)}">${cell}</td>`)}</tr>\n`,
  );
  return html`<table style="border-collapse:collapse"><thead><tr>${head}</tr></thead>\n<tbody>${body}</tbody></table>\n`;
}

/**
 * Slack and Discord show the text, which is cut at their limit; other receivers read the fields.
 */
export const toWebhookBody = (
  message: ReportMessage,
  cards: readonly ReportCard[] | undefined,
  deliveryId: string,
): string =>
  JSON.stringify({ ...toChat(toText(message, cards)), delivery_id: deliveryId, ...message, cards: cards ?? null });
