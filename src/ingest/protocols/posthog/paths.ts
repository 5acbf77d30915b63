// Routes of the PostHog protocol.
const TRACK = { scope: 'track' } as const;
const EVENTS = 'Takes events of PostHog SDKs: one, an array, or a batch';
const AI_EVENTS = 'Takes events of PostHog SDKs about calls of language models';
const SURVEYS = 'Answers PostHog SDKs that there are no surveys';
const EARLY = 'Answers PostHog SDKs that there are no features to try early';
const TOURS = 'Answers PostHog SDKs that there are no tours';
const EXPERIMENTS = 'Answers PostHog SDKs that there are no experiments on pages';

export const POSTHOG_PATHS = [
  {
    method: 'POST',
    path: '/batch',
    auth: TRACK,
    about: 'Takes events of PostHog SDKs, or a batch of Amplitude SDKs',
  },
  { method: 'POST', path: '/batch/', auth: TRACK, about: EVENTS },
  { method: 'POST', path: '/e', auth: TRACK, about: EVENTS },
  { method: 'POST', path: '/e/', auth: TRACK, about: EVENTS },
  { method: 'POST', path: '/i/v0/e', auth: TRACK, about: EVENTS },
  { method: 'POST', path: '/i/v0/e/', auth: TRACK, about: EVENTS },
  { method: 'POST', path: '/i/v0/ai/batch', auth: TRACK, about: AI_EVENTS },
  { method: 'POST', path: '/i/v0/ai/batch/', auth: TRACK, about: AI_EVENTS },
  {
    method: 'POST',
    path: '/i/v1/analytics/events',
    auth: TRACK,
    about: 'Takes a batch of PostHog SDKs in their second form, with the key as a bearer token',
  },
  { method: 'POST', path: '/capture', auth: TRACK, about: EVENTS },
  { method: 'POST', path: '/capture/', auth: TRACK, about: EVENTS },
  { method: 'POST', path: '/flags', auth: 'public', about: 'Answers PostHog SDKs that there are no flags' },
  { method: 'POST', path: '/flags/', auth: 'public', about: 'Answers PostHog SDKs that there are no flags' },
  { method: 'POST', path: '/decide', auth: 'public', about: 'Answers older PostHog SDKs that there are no flags' },
  { method: 'POST', path: '/decide/', auth: 'public', about: 'Answers older PostHog SDKs that there are no flags' },
  { method: 'POST', path: '/s', auth: 'public', about: 'Drops recordings of PostHog SDKs' },
  { method: 'POST', path: '/s/', auth: 'public', about: 'Drops recordings of PostHog SDKs' },
  { method: 'POST', path: '/i/v1/logs', auth: 'public', about: 'Drops logs of PostHog SDKs' },
  { method: 'POST', path: '/i/v1/metrics', auth: 'public', about: 'Drops metrics of PostHog SDKs' },
  { method: 'POST', path: '/i/v1/traces', auth: 'public', about: 'Drops traces of PostHog SDKs' },
  { method: 'GET', path: '/flags/definitions', auth: 'public', about: 'Answers PostHog SDKs that there are no flags' },
  {
    method: 'GET',
    path: '/api/projects/@current/feature_flags/{flag}/remote_config',
    auth: 'public',
    about: 'Answers PostHog SDKs that a flag has no payload',
  },
  { method: 'GET', path: '/api/surveys', auth: 'public', about: SURVEYS },
  { method: 'GET', path: '/api/surveys/', auth: 'public', about: SURVEYS },
  { method: 'GET', path: '/api/early_access_features', auth: 'public', about: EARLY },
  { method: 'GET', path: '/api/early_access_features/', auth: 'public', about: EARLY },
  { method: 'GET', path: '/api/product_tours', auth: 'public', about: TOURS },
  { method: 'GET', path: '/api/product_tours/', auth: 'public', about: TOURS },
  { method: 'GET', path: '/api/web_experiments', auth: 'public', about: EXPERIMENTS },
  { method: 'GET', path: '/api/web_experiments/', auth: 'public', about: EXPERIMENTS },
  { method: 'GET', path: '/array/{token}/config', auth: 'public', about: 'Settings of the PostHog browser SDK' },
  { method: 'GET', path: '/array/{token}/config.js', auth: 'public', about: 'The same settings as a script' },
] as const;
