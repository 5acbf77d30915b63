// The `engine` process of the standalone stack: opens chdb on `--directory` and serves it on `--port` of the loopback
// interface. Takes arguments, not the environment: it is only ever started by the supervisor and by tests.
import { parseArgs } from 'node:util';
import { createLogger } from '../../platform/log.js';
import { Engine } from './engine.js';
import { RunningQueries } from './running-queries.js';
import { createFrontServer } from './server.js';

const { values } = parseArgs({
  options: {
    directory: { type: 'string' },
    port: { type: 'string' },
    'memory-bytes': { type: 'string', default: String(2048 * 1024 * 1024) },
    'log-level': { type: 'string', default: 'info' },
  },
});
const { directory, port } = values;
if (directory === undefined || port === undefined) throw new Error('--directory and --port are required');

const log = createLogger({ process: 'engine', level: values['log-level'] });
const running = new RunningQueries();
let engine: Engine | undefined;
const server = createFrontServer({ findEngine: () => engine, running, log });

// Listening before it is open: whoever comes early is told so instead of being refused.
server.listen(Number(port), '127.0.0.1');
await new Promise((resolve, reject) => server.once('listening', resolve).once('error', reject));
const openedAt = performance.now();
engine = await Engine.open({ directory, memoryBytes: Number(values['memory-bytes']) });
log.info({ directory, ms: Math.round(performance.now() - openedAt) }, 'open');

async function stop(opened: Engine): Promise<void> {
  server.close();
  server.closeIdleConnections();
  // Reads are cut short; whatever writes is waited for.
  await running.finish(opened);
  await opened.close();
  log.info('closed');
  process.exit(0);
}

let isStopping = false;
for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.on(signal, () => {
    if (isStopping || engine === undefined) return;
    isStopping = true;
    stop(engine).catch((error: unknown) => {
      log.fatal(error, 'the engine could not be closed');
      process.exit(1);
    });
  });
}
