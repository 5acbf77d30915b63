// Temporal of the browser, where it has one; else the polyfill, which only such browsers load. The
// build puts this file in the place of the polyfill's entry (vite.config.ts).
type Polyfill = typeof import('temporal-polyfill');

const { Temporal: native } = globalThis as unknown as { Temporal?: Polyfill['Temporal'] };

export const Temporal: Polyfill['Temporal'] = native ?? (await import('temporal-polyfill/implementation')).Temporal;
