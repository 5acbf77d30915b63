// Messages about a change of an alert's state: the text, and the JSON body of a webhook. Values of
// events are data: they cannot mention people or groups in a chat.
import { joinTexts } from '../query/cell.js';
import type { AlertState } from './state.js';
import { formatWhen, parseWhen, type Row } from './when.js';

export interface AlertMessage {
  readonly alert: string;
  /**
   * Key and title of the dashboard; null and the project's name for an alert of the definitions.
   */
  readonly dashboard: string | null;
  readonly title: string;
  readonly query: string;
  readonly condition: string;
  readonly before: AlertState;
  readonly state: AlertState;
  readonly value: number | null;
  readonly error: string | null;
  /** URL of the dashboard, or of the query, in the console. */
  readonly url: string;
  /** RFC 3339. */
  readonly at: string;
}

/** The rows that a message names. */
export const ROWS_TOLD = 10;
const CELL_LENGTH_MAX = 100;
const CHAT_LENGTH_MAX = 1900;

const HEADINGS = { ok: 'Well again', firing: 'Firing', failing: 'Checks fail' } as const satisfies Record<
  AlertState,
  string
>;

export const toSubject = ({ state, alert, title }: AlertMessage): string =>
  `${HEADINGS[state]}: ${alert} (${flatten(title)})`;

/** Several lines: what changed, why, the rows, the query and the address of the dashboard. */
export function toText(message: AlertMessage, rows: readonly Row[]): string {
  return [toSubject(message), reasonOf(message), ...rows.map(toLine), message.query.trim(), message.url].join('\n');
}

function reasonOf({ state, error, value, condition }: AlertMessage): string {
  if (state === 'failing') return `Three checks in a row failed: ${error ?? 'unknown error'}`;
  const parsed = parseWhen(condition);
  const form = 'when' in parsed ? formatWhen(parsed.when) : condition;
  const column = 'when' in parsed && parsed.when.kind === 'comparison' ? parsed.when.column : undefined;
  const holds = state === 'firing' ? 'holds' : 'does not hold';
  const measured = column === undefined || value === null ? '' : `${column} is ${value}; `;
  return `${measured}the condition ${form} ${holds}`;
}

const toLine = (row: Row): string =>
  `- ${Object.entries(row)
    .filter(([name]) => name !== 'metric')
    .map(([name, cell]) => `${name} ${showCell(cell, name)}`)
    .join(', ')}`;

/** On one line, and at most 100 characters. Lists are joined as in an answer of the format llm. */
export function showCell(cell: unknown, column: string): string {
  const shown = Array.isArray(cell) ? joinTexts(cell, column) : cell;
  const text = flatten(typeof shown === 'object' ? JSON.stringify(shown) : String(shown));
  return cut(text, CELL_LENGTH_MAX);
}

/** Half of a character at the end would be no valid JSON for PostgreSQL and for receivers. */
const cut = (text: string, lengthMax: number): string =>
  text.length > lengthMax ? `${text.slice(0, lengthMax - 1).toWellFormed()}…` : text;

/** Without line breaks and other control characters. */
export const flatten = (text: string): string => text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ');

/** Slack reads these three characters as markup: `<!channel>` notifies everyone. */
const escapeSlack = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** Discord shows `[label](address)` as a link that hides its address. */
const escapeDiscord = (text: string): string => text.replaceAll('](', ']\\(');

/** Slack shows `text`, Discord `content`; both have a limit. */
export const toChat = (long: string) => ({
  text: escapeSlack(cut(long, CHAT_LENGTH_MAX)),
  // Discord counts the escapes, and refuses a longer message.
  content: cut(escapeDiscord(long), CHAT_LENGTH_MAX),
  allowed_mentions: { parse: [] },
});

export const toWebhookBody = (message: AlertMessage, rows: readonly Row[], deliveryId: string): string =>
  JSON.stringify({ ...toChat(toText(message, rows)), delivery_id: deliveryId, ...message, rows });
