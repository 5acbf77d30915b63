// Catastrophic backtracking: hostile texts for every regular expression that reads user input.
// Linear work on the largest input takes milliseconds; seconds mean superlinear growth. Measured in
// CPU time, so that a busy machine changes nothing.
import { expect, test } from 'vitest';
import { tryParseDuration } from '../../../src/accounts/duration.js';
import { domainBody, invitationBody, organizationBody, tokenBody } from '../../../src/accounts/schema.js';
import { tryFormatRange } from '../../../src/dashboards/date-range.js';
import { parseDashboard } from '../../../src/dashboards/parse-dashboard.js';
import { tryParseAddress } from '../../../src/ingest/client-fields.js';
import { tryParseEventTime } from '../../../src/ingest/event-time.js';
import { parsePageAddress } from '../../../src/ingest/insert/page.js';
import { parseUserAgent } from '../../../src/ingest/insert/user-agent.js';
import { toSample } from '../../../src/ingest/rejected/sample.js';
import { toProjectId } from '../../../src/platform/ids.js';
import { compile } from '../../../src/query/compile.js';
import { tryParseMoment } from '../../../src/query/time/moment.js';
import { toNextPath } from '../../../src/sign-in/next-path.js';
import { parseUsageRange } from '../../../src/usage/range.js';
import { PROJECT } from '../../golden/dataset.js';

const LENGTH = 64 * 1024;
const QUERY_LENGTH = 16 * 1024;
const NOW = 1_800_000_000_000;
const CONTEXT = { projectId: toProjectId(PROJECT), nowMs: NOW };

const READERS: Readonly<Record<string, (text: string) => unknown>> = {
  'user agent': parseUserAgent,
  'user agent of a browser': (text) => parseUserAgent(`Mozilla/5.0 (${text}) Chrome/1 ${text}`),
  'page address': parsePageAddress,
  'path of a page': (text) => parsePageAddress(`https://a.example/${text}?${text}#${text}`),
  'time of an event': (text) => tryParseEventTime(text, NOW),
  'address of a client': tryParseAddress,
  'rejected event': (text) => toSample({ [text]: text }),
  'e-mail address': (email) => invitationBody.safeParse({ email, role: 'member' }),
  domain: (domain) => domainBody.safeParse({ domain }),
  name: (name) => organizationBody.safeParse({ name }),
  token: (text) => tokenBody.safeParse({ name: text, kind: 'personal', scopes: [text], expires_in: text }),
  duration: tryParseDuration,
  'range of days': (from) => parseUsageRange({ from }, new Date(NOW)),
  'way on after signing in': toNextPath,
  'range of a dashboard': (text) => tryFormatRange(text.slice(0, QUERY_LENGTH)),
  moment: (text) => tryParseMoment(text, 'UTC'),
  'title of a dashboard': (text) => parseDashboard(`version: 1\ntitle: "${text}"`, DASHBOARD),
  dashboard: (text) => parseDashboard(text, DASHBOARD),
  query: (text) => ask(text.slice(0, QUERY_LENGTH)),
  'condition of a query': (text) => ask(`* | where a = ${text.slice(0, QUERY_LENGTH)}`),
};

const DASHBOARD = { ...CONTEXT, key: 'k', timezone: 'UTC', definitions: [], privateAddresses: [] };

const ask = (q: string) => compile(q, { ...CONTEXT, timezone: 'UTC', limit: 100, offset: 0 });

/**
 * Texts that make nested repetitions and overlapping alternatives backtrack: long runs, also with
 * an end that does not match.
 */
const PUMPS = ['a', ' ', '0', '/', '.', 'a-', 'a@', '(', '"', '\\', '%20', '|*', '[', '{{', '\n'];

function expectLinear(read: (text: string) => unknown): void {
  for (const pump of PUMPS) {
    const run = pump.repeat(LENGTH / pump.length);
    for (const text of [run, `x${run.slice(2)}!`]) {
      const before = process.cpuUsage();
      try {
        read(text);
      } catch {
        // A refusal is fine; only the time matters.
      }
      const { user } = process.cpuUsage(before);
      expect([pump, user < 2_000_000]).toEqual([pump, true]);
    }
  }
}

test.each(Object.entries(READERS))('%s takes linear time', (_, read) => expectLinear(read), 60_000);
