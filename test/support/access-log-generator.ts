// Generates an access log in the combined format with the variety of real ones: browsers, bots,
// referrers, errors, IPv6, escapes, duplicate lines, lines out of order, and invalid lines. Seeded.
import { createRandom } from '../../bench/random.js';

export interface GeneratedAccessLog {
  readonly text: string;
  /** Number of valid lines; the others must be counted as unparsable. */
  readonly validLines: number;
  readonly malformedLines: number;
}

export interface AccessLogSpecification {
  readonly seed: number;
  readonly lines: number;
  /** First and last day, as `2015-05-17`; the log covers all of both. */
  readonly firstDay: string;
  readonly days: number;
}

const DAY_MS = 86_400_000;
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

const USER_AGENTS = [
  'Mozilla/5.0 (Windows NT 6.1; WOW64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/32.0.1700.107 Safari/537.36',
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_9_1) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/32.0.1700.77 Safari/537.36',
  'Mozilla/5.0 (X11; Linux x86_64; rv:27.0) Gecko/20100101 Firefox/27.0',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 7_0_4 like Mac OS X) AppleWebKit/537.51.1 (KHTML, like Gecko) Version/7.0 Mobile/11B554a Safari/9537.53',
  'Mozilla/5.0 (Linux; Android 4.4.2; Nexus 5 Build/KOT49H) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/32.0.1700.99 Mobile Safari/537.36',
  'Mozilla/5.0 (compatible; MSIE 10.0; Windows NT 6.2; Trident/6.0)',
  'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
  'Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)',
  'Mozilla/5.0 (compatible; AhrefsBot/5.0; +http://ahrefs.com/robot/)',
  'curl/7.35.0',
  'Tiny Tiny RSS/1.11 (http://tt-rss.org/)',
  'Agent with a \\"quoted\\" word',
  '-',
];
const PATHS = [
  '/',
  '/blog/',
  '/blog/geekery/grok.html',
  '/images/logo.png',
  '/robots.txt',
  '/favicon.ico',
  '/projects/',
];
const REFERRERS = [
  '-',
  '-',
  'http://www.google.com/search?q=grok',
  'https://example.com/blog/',
  'http://example.com/?a=\\"b\\"',
];
const REQUESTS_THAT_ARE_NONE = ['-', '\\x16\\x03\\x01\\x02\\x00\\x01\\x00', 'GET /old', '\\x80w\\x01\\x03\\x01'];
const MALFORMED = [
  '',
  'not a line of an access log',
  '203.0.113.9 - - [99/Foo/2015:10:05:03 +0000] "GET / HTTP/1.1" 200 1',
];

export function generateAccessLog(specification: AccessLogSpecification): GeneratedAccessLog {
  const random = createRandom(specification.seed);
  const pick = <T>(choices: readonly T[]): T => choices[Math.floor(random() * choices.length)] as T;
  const clients = Array.from({ length: Math.ceil(specification.lines / 12) }, (_, index) => ({
    address: index % 15 === 0 ? `2001:db8:${index.toString(16)}::${(index * 7).toString(16)}` : toIPv4(random),
    userAgent: pick(USER_AGENTS),
  }));

  const lines: string[] = [];
  const stepMs = (specification.days * DAY_MS) / specification.lines;
  for (let index = 0; index < specification.lines; index += 1) {
    // Servers log a request when it ends, with its start time, so lines are only roughly in order.
    const timeMs = Date.parse(specification.firstDay) + index * stepMs + Math.min(random() * 20_000, stepMs * 0.9);
    const client = pick(clients);
    const isRequest = random() > 0.01;
    const request = isRequest
      ? `GET ${toTarget(random, pick)} HTTP/1.${pick([0, 1, 1])}`
      : pick(REQUESTS_THAT_ARE_NONE);
    const status = isRequest ? pick([200, 200, 200, 200, 200, 200, 301, 304, 404, 404, 403, 500]) : 400;
    const bytes = status === 304 ? '-' : String(Math.floor(random() * 200_000));
    const who = `${client.address} - ${random() < 0.01 ? 'frank' : '-'} [${formatTime(timeMs)}]`;
    lines.push(`${who} "${request}" ${status} ${bytes} "${pick(REFERRERS)}" "${client.userAgent}"`);
    if (random() < 0.01) lines.push(lines.at(-1) as string);
  }
  const validLines = lines.length;
  // Spread through the log, so that the reported line numbers are distinguishable.
  const malformed = Array.from({ length: 9 }, () => pick(MALFORMED));
  for (const text of malformed) lines.splice(Math.floor(random() * lines.length), 0, text);
  const malformedLines = malformed.filter((text) => text !== '').length;
  return { text: `${lines.join('\n')}\n`, validLines, malformedLines };
}

function toTarget(random: () => number, pick: <T>(choices: readonly T[]) => T): string {
  // Squared, so that a few pages get most views.
  const path = PATHS[Math.floor(random() ** 2 * PATHS.length)] as string;
  if (random() < 0.1) return `${path}?page=${Math.floor(random() * 9)}`;
  return random() < 0.05 ? `/files/${pick(['a b.txt', '%D0%BF', 'x\\"y'])}` : path;
}

function toIPv4(random: () => number): string {
  // Public addresses, which have a geography; starting above 10 avoids private ranges.
  const byte = (min: number, max: number) => min + Math.floor(random() * (max - min));
  return `${byte(13, 99)}.${byte(0, 256)}.${byte(0, 256)}.${byte(1, 255)}`;
}

function formatTime(timeMs: number): string {
  const [date = '', time = ''] = new Date(timeMs).toISOString().split('T');
  const [year, month, day] = date.split('-');
  return `${day}/${MONTHS[Number(month) - 1]}/${year}:${time.slice(0, 8)} +0000`;
}
