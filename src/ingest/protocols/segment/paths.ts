// Routes of the Segment protocol.
const TRACK = { scope: 'track' } as const;

export const SEGMENT_PATHS = [
  {
    method: 'POST',
    path: '/v1/{call}',
    auth: TRACK,
    about:
      'Takes calls of Segment and RudderStack SDKs: batch (also import), track, page, identify, screen, group or alias',
  },
  { method: 'POST', path: '/v1/m', auth: 'public', about: 'Drops measurements that Segment SDKs make of themselves' },
  {
    method: 'GET',
    path: '/v1/projects/{writeKey}/settings',
    auth: 'public',
    about: 'Settings of the Segment browser SDK',
  },
  {
    method: 'GET',
    path: '/cdn/v1/projects/{writeKey}/settings',
    auth: 'public',
    about: 'Settings of the Segment browser SDK, below the path of a CDN',
  },
] as const;
