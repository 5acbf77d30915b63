// Protocol of the Segment and RudderStack SDKs: where the key is, and what a body holds.
import type { RequestHandler } from 'express';
import { PublicError } from '../../../platform/errors.js';
import { allowAnyOrigin } from '../../../platform/http/cross-origin.js';
import { isObject, textOf } from '../../../platform/json-object.js';
import type { RawEvent } from '../../body.js';
import type { Protocol } from '../protocol.js';
import { clockSkewMs } from '../values.js';
import { mapCall } from './map.js';

/** Last segments of the path, with the calls that they take; the short ones are of browsers. */
const CALLS: ReadonlyMap<string, string> = new Map([
  // Where analytics-ruby and older libraries of servers send their batches.
  ['import', 'batch'],
  ...['batch', 'track', 'page', 'identify', 'screen', 'group', 'alias'].flatMap((call): [string, string][] => [
    [call, call],
    [call.charAt(0), call],
  ]),
]);

const ACCEPTED = { success: true };

export const segment: Protocol = {
  name: 'segment',
  paths: ['/v1/:call'],
  calls: [...CALLS.keys()],

  mountOthers(router, skip) {
    // Measurements of the SDKs themselves, which have no key.
    router.post('/v1/m', (_req, res) => {
      skip('metric');
      allowAnyOrigin(res);
      res.json(ACCEPTED);
    });
    const answerSettings: RequestHandler = ({ params, protocol, headers }, res) => {
      allowAnyOrigin(res);
      res.json(toSettings(String(params.writeKey), { host: headers.host ?? '', protocol }));
    };
    router.get(['/v1/projects/:writeKey/settings', '/cdn/v1/projects/:writeKey/settings'], answerSettings);
  },

  findHeadKey({ authorization }) {
    const encoded = authorization === undefined ? undefined : /^Basic +(\S+)$/i.exec(authorization)?.[1];
    return encoded === undefined ? undefined : Buffer.from(encoded, 'base64').toString('utf8').replace(/:.*$/s, '');
  },

  findKey: (body) => (isObject(body) ? textOf(body.writeKey) : undefined),

  translate(body, { call: segmentOfPath, now }, sink) {
    if (!isObject(body)) throw new PublicError('bad_request', 'the body must be an object');
    const request = { skewMs: clockSkewMs(body.sentAt, now) };
    const type = CALLS.get(segmentOfPath);
    if (type !== 'batch') {
      mapCall(body, type, request, sink);
      return 1;
    }
    if (!Array.isArray(body.batch)) throw new PublicError('bad_request', '"batch" must be an array of calls');
    for (const call of body.batch as unknown[]) {
      if (isObject(call)) mapCall(call, call.type, request, sink);
      else sink.skip('call_unknown');
    }
    return body.batch.length;
  },

  answer: () => ACCEPTED,
};

/**
 * What the browser SDK reads before it sends: there are no destinations, and calls are sent to the
 * host that was asked.
 */
const toSettings = (writeKey: string, { host, protocol }: { host: string; protocol: string }): RawEvent => ({
  integrations: {
    'Segment.io': {
      apiKey: writeKey,
      apiHost: `${host}/v1`,
      protocol,
      unbundledIntegrations: [],
      addBundledMetadata: true,
      maybeBundledConfigIds: {},
      versionSettings: { version: '4.4.7', componentTypes: ['browser'] },
    },
  },
  plan: { track: { __default: { enabled: true, integrations: {} } } },
  edgeFunction: {},
  analyticsNextEnabled: true,
  middlewareSettings: {},
  enabledMiddleware: {},
  metrics: { sampleRate: 0 },
  legacyVideoPluginsEnabled: false,
  remotePlugins: [],
});
