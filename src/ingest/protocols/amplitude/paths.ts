// Routes of the Amplitude protocol; it shares /batch with PostHog.
export const AMPLITUDE_PATHS = [
  { method: 'POST', path: '/2/httpapi', auth: { scope: 'track' }, about: 'Takes events of Amplitude SDKs' },
] as const;
