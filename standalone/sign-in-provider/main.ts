// Entry point of the local OpenID provider: a separate process, so that the service does not load
// its dependencies.
import { createServer } from 'node:http';
import { parseArgs } from 'node:util';
import { returnMemoryAtRest } from '../../src/platform/rest-memory.js';
import { markUsedBuild } from '../../src/platform/used-build.js';
import { createSignInProvider } from './provider.js';

// Its files are read when they are needed, after newer builds.
markUsedBuild();
const { values } = parseArgs({ options: { port: { type: 'string' }, 'callback-url': { type: 'string' } } });
const { IDP_CLIENT_ID: id, IDP_CLIENT_SECRET: secret } = process.env;
const callbackUrl = values['callback-url'];
if (id === undefined || secret === undefined || values.port === undefined || callbackUrl === undefined) {
  throw new Error('IDP_CLIENT_ID, IDP_CLIENT_SECRET, --port and --callback-url are required');
}
const issuer = `http://127.0.0.1:${values.port}`;
const app = createSignInProvider({ issuer, client: { id, secret, callbackUrl } });
returnMemoryAtRest();
createServer(app).listen(Number(values.port), '127.0.0.1');
// Sign-ins in progress can be repeated, so they are not awaited.
process.on('SIGTERM', () => process.exit(0));
