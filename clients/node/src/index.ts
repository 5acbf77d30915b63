// Public exports of the package.
export { Client } from './client.js';
export * from './types.js';
