// Reads one line of the common or combined log format of Apache and nginx. Pure: it knows the format of the line and
// nothing about events. What a client can make a server log (TLS bytes, half requests, quotes) is data here, no error.

export interface AccessLogLine {
  /** As logged: an address, a host name where the server looks names up, or undefined for `-`. */
  readonly address: string | undefined;
  readonly timeMs: number;
  /** Undefined where the request line is `-` (a connection that closed without a word). */
  readonly request: LoggedRequest | undefined;
  readonly status: number | undefined;
  readonly bytes: number | undefined;
  readonly referrer: string | undefined;
  readonly userAgent: string | undefined;
  /** False where the line ends inside its last quoted field, as a logger with a length limit leaves it. */
  readonly isComplete: boolean;
}

/** A request line, or what came instead of one: `text` keeps the escapes of the log, since it may be any bytes. */
export type LoggedRequest =
  | { readonly kind: 'http'; readonly method: string; readonly target: string }
  | { readonly kind: 'malformed'; readonly text: string };

// address, identity, user (which may hold spaces), [time], then the quoted request and whatever follows it.
const HEAD = /^(\S+) \S+ .*?\[(\d{2})\/([A-Z][a-z]{2})\/(\d{4}):(\d{2}):(\d{2}):(\d{2}) ([+-])(\d{2})(\d{2})\] (?=")/;
const STATUS_AND_BYTES = /^ (\d{3}|-) (\d+|-)(?= |$)/;
const QUOTED = /^ ?"((?:[^"\\]|\\.)*)("|\\?$)/;
// The protocol is missing in requests of HTTP 0.9 and of careless probes. A target holds no spaces in a valid request,
// but clients do send them and servers do log them.
const REQUEST = /^([A-Z][A-Z_-]*) (\S.*?)(?: HTTP\/\d(?:\.\d)?)?$/;
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** Undefined when the text is not a line of either format. Fields after the user agent are allowed and ignored. */
export function tryParseAccessLogLine(text: string): AccessLogLine | undefined {
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
  // Date.UTC rolls 31 April over into May; such a time was never logged. A leap second (60) may roll over.
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

/** Undoes the escapes of both servers. Runs of `\xHH` are the bytes of UTF-8 text. */
function undoEscapes(text: string | undefined): string | undefined {
  if (text === undefined || !text.includes('\\')) return text;
  return text.replace(/(?:\\x[0-9A-Fa-f]{2})+|\\(.)/g, (escaped, character: string | undefined) =>
    character === undefined
      ? Buffer.from(escaped.replaceAll('\\x', ''), 'hex').toString('utf8')
      : (ESCAPES[character] ?? character),
  );
}
