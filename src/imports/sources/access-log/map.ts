// Maps a line of an access log to a page_view event. The same file gives the same ids, so an import
// can be repeated.
import { isIP } from 'node:net';
import { sha256 } from '../../../platform/sha256.js';
import { toIdText } from '../../record-ids.js';
import { RepetitionCounter } from '../../repetition-counter.js';
import type { ImportedEvent, Mapper, Properties, SourceOptions } from '../../source.js';
import { present } from '../../values.js';
import type { AccessLogLine } from './line.js';
import type { LogRecord } from './read.js';

/** Two equal lines in one second are two page views. */
export function createMapper({ site }: Pick<SourceOptions, 'site'>): Mapper<LogRecord> {
  const repetitions = new RepetitionCounter();
  return ({ text, line }, file) => {
    const lineDigest = digest('line', text);
    const insertId = toInsertId(lineDigest, repetitions.next(lineDigest, file));
    return [{ kind: 'event', event: toPageView(line, insertId, site) }];
  };
}

function toPageView(line: AccessLogLine, insertId: string, site: string | undefined): ImportedEvent {
  return {
    event_type: 'page_view',
    timeMs: line.timeMs,
    insert_id: insertId,
    device_id: toDeviceId(line),
    event_properties: toProperties(line, site ?? line.site),
    ip: line.address !== undefined && isIP(line.address) !== 0 ? line.address : undefined,
    user_agent: line.userAgent,
    origin: 'server',
  };
}

function toProperties({ request, referrer, status, bytes }: AccessLogLine, site: string | undefined): Properties {
  return present({
    url: request?.kind === 'http' ? tryToUrl(request.target, site) : undefined,
    referrer,
    status,
    method: request?.kind === 'http' ? request.method : undefined,
    // Keep malformed request lines for inspection: they usually come from scanners.
    request: request?.kind === 'malformed' ? request.text : undefined,
    bytes,
  });
}

/** Undefined for request targets without a path: `*` (OPTIONS) and `host:port` (CONNECT). */
function tryToUrl(target: string, site: string | undefined): string | undefined {
  if (/^https?:\/\//i.test(target)) return target;
  // Concatenate as text: new URL() would read `//admin` as a host.
  return target.startsWith('/') ? `${site ?? ''}${target}` : undefined;
}

/** Undefined without an address: otherwise all such visitors would become one device. */
function toDeviceId({ address, userAgent }: AccessLogLine): string | undefined {
  return address === undefined ? undefined : toIdText(digest('device', `${address}\0${userAgent ?? ''}`));
}

const toInsertId = (lineDigest: Buffer, repetition: number): string =>
  repetition === 0 ? toIdText(lineDigest) : `${toIdText(lineDigest)}.${repetition}`;

// Domain separation: ids of different kinds never collide, and no id is the plain SHA-256 of an
// address.
const digest = (domain: string, text: string): Buffer => sha256(`service-import/access-log/${domain}\0${text}`);
