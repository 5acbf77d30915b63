// Routes of the PostHog protocol.
const TRACK = { scope: 'track' } as const;
const EVENTS = 'Takes events of PostHog SDKs: one, an array, or a batch';

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
  { method: 'POST', path: '/capture', auth: TRACK, about: EVENTS },
  { method: 'POST', path: '/capture/', auth: TRACK, about: EVENTS },
  { method: 'POST', path: '/flags', auth: 'public', about: 'Answers PostHog SDKs that there are no flags' },
  { method: 'POST', path: '/flags/', auth: 'public', about: 'Answers PostHog SDKs that there are no flags' },
  { method: 'POST', path: '/decide', auth: 'public', about: 'Answers older PostHog SDKs that there are no flags' },
  { method: 'POST', path: '/decide/', auth: 'public', about: 'Answers older PostHog SDKs that there are no flags' },
  { method: 'POST', path: '/s', auth: 'public', about: 'Drops recordings of PostHog SDKs' },
  { method: 'POST', path: '/s/', auth: 'public', about: 'Drops recordings of PostHog SDKs' },
  { method: 'GET', path: '/array/{token}/config', auth: 'public', about: 'Settings of the PostHog browser SDK' },
  { method: 'GET', path: '/array/{token}/config.js', auth: 'public', about: 'The same settings as a script' },
] as const;
