// What the package offers.
export { Client } from './client.js';
export * from './types.js';
