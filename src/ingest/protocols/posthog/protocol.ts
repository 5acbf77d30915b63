// Protocol of the PostHog SDKs: encodings of a body, where the key is, and the answers to what the
// SDKs ask for beside sending.
import type { RequestHandler } from 'express';
import { NoSuchRoute, PublicError } from '../../../platform/errors.js';
import { allowAnyOrigin } from '../../../platform/http/cross-origin.js';
import { isObject, objectOf, textOf } from '../../../platform/json-object.js';
import { parseJson, type RawEvent } from '../../body.js';
import type { Head, Protocol, SkippedCall } from '../protocol.js';
import { clockSkewMs } from '../values.js';
import { mapEvent } from './map.js';
import { POSTHOG_PATHS } from './paths.js';

const FORM = Buffer.from('data=');

export const posthog: Protocol = {
  name: 'posthog',
  paths: POSTHOG_PATHS.flatMap(({ path, auth }) => (auth === 'public' ? [] : [path])),

  /** JSON, or a form whose `data` is base64 of JSON. */
  parse(bytes) {
    if (!bytes.subarray(0, FORM.length).equals(FORM)) return parseJson(bytes);
    const data = new URLSearchParams(bytes.toString('latin1')).get('data') ?? '';
    // In a form "+" stands for a space, and older SDKs do not escape it.
    return parseJson(Buffer.from(data.replaceAll(' ', '+'), 'base64'));
  },

  findKey(body) {
    const first = Array.isArray(body) ? body[0] : body;
    const { api_key: key, token, properties } = objectOf(first);
    return textOf(key) ?? textOf(token) ?? textOf(objectOf(properties).token);
  },

  findHeadKey: ({ authorization = '' }) => /^Bearer +((?:pk|sk)_\S+) *$/i.exec(authorization)?.[1],

  readHead(headers, url) {
    const { 'posthog-sdk-info': library, 'posthog-request-timestamp': sentAt = sentAtOf(url) } = headers;
    return {
      ...(typeof library === 'string' && { library }),
      ...(typeof sentAt === 'string' && { sentAt }),
    };
  },

  translate(body, { now, head }, sink) {
    const events = eventsOf(body);
    const sentAt = isObject(body) ? body.sent_at : objectOf(events[0]).sent_at;
    const request = { now, skewMs: clockSkewMs(sentAt ?? head?.sentAt, now) };
    for (const event of events) {
      if (isObject(event)) mapEvent(isObject(event.options) ? toFirstForm(event, head) : event, request, sink);
      else sink.skip('call_unknown');
    }
    return events.length;
  },

  answer: (_counts, call) => (call === SECOND_FORM ? { results: {} } : { status: 'Ok' }),

  // posthog-js repeats nothing after a status from 400 to 499.
  busyStatus: 503,

  mountOthers(router, skip) {
    const answering =
      (answer: RawEvent | null): RequestHandler =>
      (_req, res) => {
        allowAnyOrigin(res);
        res.json(answer);
      };
    router.post(['/flags', '/flags/', '/decide', '/decide/'], answering(NO_FLAGS));
    for (const [path, reason] of DROPPED) {
      router.post(path, (_req, res) => {
        skip(reason);
        allowAnyOrigin(res);
        res.json({ status: 'Ok' });
      });
    }
    for (const [path, nothing] of NOTHING_TO_GET) router.get(path, answering(nothing));
    router.get('/array/:token/config', answering(SETTINGS));
    router.get('/array/:token/config.js', ({ params }, res) => {
      const token = String(params.token);
      if (!/^[\w-]+$/.test(token)) throw new NoSuchRoute();
      const known = `window._POSTHOG_REMOTE_CONFIG=window._POSTHOG_REMOTE_CONFIG||{}`;
      const own = `window._POSTHOG_REMOTE_CONFIG["${token}"]=${JSON.stringify({ config: SETTINGS, siteApps: [] })}`;
      res.type('text/javascript').send(`${known};${own};`);
    });
  },
};

/** The time of sending in a query, milliseconds: `_` of older browser SDKs. */
function sentAtOf(url: string): string | undefined {
  const [, ms] = /[?&](?:_|sent_at)=(\d{13})(?=&|$)/.exec(url) ?? [];
  return ms === undefined ? undefined : new Date(Number(ms)).toISOString();
}

function eventsOf(body: unknown): readonly unknown[] {
  if (Array.isArray(body)) return body;
  if (isObject(body) && Array.isArray(body.batch)) return body.batch;
  if (isObject(body) && Object.hasOwn(body, 'event')) return [body];
  throw new PublicError('bad_request', 'the body must be an event, an array of events, or an object with "batch"');
}

/** Turns an event of the second form, which has fields beside its properties, into the first. */
function toFirstForm(event: RawEvent, head: Head | undefined): RawEvent {
  const { options, session_id: session, properties } = event;
  const { process_person_profile: hasProfile, disable_skew_correction: isTimeRight } = objectOf(options);
  const [library, version] = head?.library?.split('/') ?? [];
  return {
    ...event,
    properties: {
      ...objectOf(properties),
      ...(session !== undefined && { $session_id: session }),
      ...(hasProfile !== undefined && { $process_person_profile: hasProfile }),
      ...(isTimeRight !== undefined && { $ignore_sent_at: isTimeRight }),
      ...(library !== undefined && { $lib: library, $lib_version: version }),
    },
  };
}

/** Last segment of the path of the second form. */
const SECOND_FORM = 'events';

/** Requests that are answered, counted and dropped. */
const DROPPED: readonly (readonly [string, SkippedCall])[] = [
  ['/s', 'recording'],
  ['/s/', 'recording'],
  ['/i/v1/logs', 'log'],
  ['/i/v1/metrics', 'metric'],
  ['/i/v1/traces', 'trace'],
];

/** What the SDKs read, and this service does not have. */
const NOTHING_TO_GET: readonly (readonly [string, RawEvent | null])[] = [
  ['/flags/definitions', { flags: [], group_type_mapping: {}, cohorts: {} }],
  ['/api/projects/@current/feature_flags/:flag/remote_config', null],
  ['/api/surveys', { surveys: [] }],
  ['/api/surveys/', { surveys: [] }],
  ['/api/early_access_features', { earlyAccessFeatures: [] }],
  ['/api/early_access_features/', { earlyAccessFeatures: [] }],
  ['/api/product_tours', { product_tours: [] }],
  ['/api/product_tours/', { product_tours: [] }],
  ['/api/web_experiments', { experiments: [] }],
  ['/api/web_experiments/', { experiments: [] }],
];

const NO_FLAGS: RawEvent = {
  flags: {},
  featureFlags: {},
  featureFlagPayloads: {},
  errorsWhileComputingFlags: false,
  supportedCompression: ['gzip', 'gzip-js', 'base64'],
  sessionRecording: false,
  surveys: false,
};

/** Everything that this service does not do is off. */
const SETTINGS: RawEvent = {
  supportedCompression: ['gzip', 'gzip-js'],
  hasFeatureFlags: false,
  analytics: { endpoint: '/i/v0/e/' },
  autocapture_opt_out: false,
  autocaptureExceptions: false,
  captureDeadClicks: false,
  capturePerformance: false,
  defaultIdentifiedOnly: true,
  elementsChainAsString: true,
  errorTracking: { autocaptureExceptions: false, suppressionRules: [] },
  heatmaps: false,
  isAuthenticated: false,
  sessionRecording: false,
  siteApps: [],
  surveys: false,
  toolbarParams: {},
};
