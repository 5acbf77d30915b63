// Calls of Segment and RudderStack by their origin, for the protocol and the import.

/** Channel, context, and the origin of a call that has them. */
export const SEGMENT_ORIGINS: [channel: string | undefined, context: object, origin: 'client' | 'server'][] = [
  ['mobile', {}, 'client'],
  ['web', {}, 'client'],
  ['client', {}, 'client'],
  [undefined, { device: { model: 'iPhone' } }, 'client'],
  [undefined, { userAgent: 'Firefox' }, 'client'],
  [undefined, { os: { name: 'Linux' } }, 'server'],
  [undefined, {}, 'server'],
  ['server', { userAgent: 'Firefox', device: { model: 'iPhone' } }, 'server'],
];
