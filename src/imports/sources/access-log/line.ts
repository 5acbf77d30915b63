// Parser for one line of the common or combined log format of Apache and nginx. Pure: it knows
// nothing about events. Anything that a client can make a server log (TLS bytes, partial requests,
// quotes) parses as data.
import { isIP } from 'node:net';

export interface AccessLogLine {
  /** Origin of the host that Apache's `vhost_combined` has in front; undefined without one. */
  readonly site: string | undefined;
  /** As logged: an address, a host name (when the server resolves names), or undefined for `-`. */
  readonly address: string | undefined;
  readonly timeMs: number;
  /** Undefined when the request line is `-` (a connection that closed without a request). */
  readonly request: LoggedRequest | undefined;
  readonly status: number | undefined;
  readonly bytes: number | undefined;
  readonly referrer: string | undefined;
  readonly userAgent: string | undefined;
  /** False when the line ends inside its last quoted field, because the logger cut it. */
  readonly isComplete: boolean;
}

/** A request line, or any other logged bytes: then `text` keeps the escapes of the log. */
export type LoggedRequest =
  | { readonly kind: 'http'; readonly method: string; readonly target: string }
  | { readonly kind: 'malformed'; readonly text: string };

/** Host and port, and what may be an address: an IPv6 address looks like a host with its port. */
const VIRTUAL_HOST = /^([^\s:]\S*):(\d{1,5}) (?=(\S+) )/;
// address, identity, user (may contain spaces), [time], then the quoted request and the remaining
// fields.
const HEAD = /^(\S+) \S+ .*?\[(\d{2})\/([A-Z][a-z]{2})\/(\d{4}):(\d{2}):(\d{2}):(\d{2}) ([+-])(\d{2})(\d{2})\] (?=")/;
const STATUS_AND_BYTES = /^ (\d{3}|-) (\d+|-)(?= |$)/;
const QUOTED = /^ ?"((?:[^"\\]|\\.)*)("|\\?$)/;
// HTTP 0.9 requests and some probes have no protocol. A valid target contains no spaces, but
// clients send them and servers log them.
const REQUEST = /^([A-Z][A-Z_-]*) (\S.*?)(?: HTTP\/\d(?:\.\d)?)?$/;
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** Undefined when the text matches neither format. Fields after the user agent are ignored. */
export function tryParseAccessLogLine(line: string): AccessLogLine | undefined {
  const host = VIRTUAL_HOST.exec(line);
  if (host !== null && isIP(host[3] ?? '') !== 0) {
    const parsed = tryParseLine(line.slice(host[0].length));
    return parsed && { ...parsed, site: toOrigin(host[1] ?? '', host[2] ?? '') };
  }
  return tryParseLine(line);
}

/** Port 443 alone says that the host is reached by TLS. */
function toOrigin(host: string, port: string): string {
  if (port === '443') return `https://${host}`;
  return port === '80' ? `http://${host}` : `http://${host}:${port}`;
}

function tryParseLine(text: string): AccessLogLine | undefined {
  const head = HEAD.exec(text);
  const timeMs = head === null ? undefined : tryParseTime(head);
  if (head === null || timeMs === undefined) return undefined;

  const request = QUOTED.exec(text.slice(head[0].length));
  if (request === null || request[2] !== '"') return undefined;
  const afterRequest = text.slice(head[0].length + request[0].length);
  const numbers = STATUS_AND_BYTES.exec(afterRequest);
  if (numbers === null) return undefined;

  const afterNumbers = afterRequest.slice(numbers[0].length);
  const referrer = QUOTED.exec(afterNumbers);
  const userAgent = referrer === null ? null : QUOTED.exec(afterNumbers.slice(referrer[0].length));
  return {
    site: undefined,
    address: present(head[1]),
    timeMs,
    request: toRequest(request[1] ?? ''),
    status: toNumber(numbers[1]),
    bytes: toNumber(numbers[2]),
    referrer: present(undoEscapes(referrer?.[1])),
    userAgent: present(undoEscapes(userAgent?.[1])),
    isComplete: (userAgent ?? referrer)?.[2] !== '' && (userAgent ?? referrer)?.[2] !== '\\',
  };
}

function tryParseTime([, , day, month, year, hour, minute, second, sign, offsetHours, offsetMinutes]: RegExpExecArray) {
  const monthIndex = MONTHS.indexOf(month ?? '');
  const localMs = Date.UTC(Number(year), monthIndex, Number(day), Number(hour), Number(minute), Number(second));
  // Date.UTC turns 31 April into 1 May: reject such dates. A leap second (60) may roll over.
  const local = new Date(localMs - (Number(second) === 60 ? 1000 : 0));
  const isReal = monthIndex >= 0 && local.getUTCDate() === Number(day) && local.getUTCHours() === Number(hour);
  if (!isReal || Number(minute) > 59 || Number(second) > 60) return undefined;
  const offsetMs = (Number(offsetHours) * 60 + Number(offsetMinutes)) * 60_000;
  return sign === '-' ? localMs + offsetMs : localMs - offsetMs;
}

function toRequest(text: string): LoggedRequest | undefined {
  if (text === '-' || text === '') return undefined;
  const match = REQUEST.exec(text);
  const [, method, target] = match ?? [];
  if (method === undefined || target === undefined) return { kind: 'malformed', text };
  return { kind: 'http', method, target: undoEscapes(target) ?? target };
}

const present = (text: string | undefined): string | undefined => (text === '-' || text === '' ? undefined : text);
const toNumber = (text: string | undefined): number | undefined =>
  text === undefined || text === '-' ? undefined : Number(text);

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', v: '\v', b: '\b', f: '\f' };

/** Decodes the escapes of both servers. Runs of `\xHH` are UTF-8 bytes. */
function undoEscapes(text: string | undefined): string | undefined {
  if (text === undefined || !text.includes('\\')) return text;
  return text.replace(/(?:\\x[0-9A-Fa-f]{2})+|\\(.)/g, (escaped, character: string | undefined) =>
    character === undefined
      ? Buffer.from(escaped.replaceAll('\\x', ''), 'hex').toString('utf8')
      : (ESCAPES[character] ?? character),
  );
}
