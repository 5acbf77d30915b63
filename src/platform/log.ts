// One structured logger per process. Request logs mask `?key=`; event payloads and personal ids are
// never logged.
import { type Logger, pino } from 'pino';
import { toLogged } from './logged-error.js';

export type { Logger };

export function createLogger(options: { process: string; level: string }): Logger {
  return pino({
    level: options.level,
    base: { process: options.process },
    serializers: { err: toLogged },
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: [
      'req.headers["x-api-key"]',
      'req.headers.cookie',
      'req.headers.authorization',
      // PostgreSQL quotes rejected data in these fields.
      'err.detail',
      'err.where',
      // The Redis client keeps the arguments of the failed command here.
      'err.command.args',
      'err.previousErrors',
    ],
  });
}
