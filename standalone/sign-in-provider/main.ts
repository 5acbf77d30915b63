// The local OpenID provider as a process of its own: what it needs is not loaded by the processes of the service.
import { createServer } from 'node:http';
import { parseArgs } from 'node:util';
import { createSignInProvider } from './provider.js';

const { values } = parseArgs({ options: { port: { type: 'string' }, 'callback-url': { type: 'string' } } });
const { IDP_CLIENT_ID: id, IDP_CLIENT_SECRET: secret } = process.env;
const callbackUrl = values['callback-url'];
if (id === undefined || secret === undefined || values.port === undefined || callbackUrl === undefined) {
  throw new Error('IDP_CLIENT_ID, IDP_CLIENT_SECRET, --port and --callback-url are required');
}
const issuer = `http://127.0.0.1:${values.port}`;
const app = createSignInProvider({ issuer, client: { id, secret, callbackUrl } });
createServer(app).listen(Number(values.port), '127.0.0.1');
// Nothing is under way that could not be begun again.
process.on('SIGTERM', () => process.exit(0));
