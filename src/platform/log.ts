// One structured logger per process. Request logs mask `?key=`; event payloads and personal ids are never logged.
import { type Logger, pino } from 'pino';

export type { Logger };

export function createLogger(options: { process: string; level: string }): Logger {
  return pino({
    level: options.level,
    base: { process: options.process },
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: [
      'req.headers["x-api-key"]',
      'req.headers.cookie',
      'req.headers.authorization',
      // Where PostgreSQL quotes the data that it refuses.
      'err.detail',
      'err.where',
      // Where the Redis client keeps what it was about to store.
      'err.command.args',
      'err.previousErrors',
    ],
  });
}
