// What a log line says of an error. The trace of a store's outage shows nothing but the driver, so
// it is left out; that of any other error leads to the fault.
import { stdSerializers } from 'pino';
import { isOutage } from './clickhouse/failures.js';
import { isLeaseLost } from './redis/lease-lost.js';
import { isTransientError, storeOfWords } from './transient-errors.js';

export function toLogged(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  if (!isExpected(error)) return stdSerializers.err(error);
  const { stack: _stack, ...logged } = stdSerializers.err(error);
  const store = storeOfWords(error.message);
  const refusal = refusalOf(error);
  return {
    ...logged,
    ...(store !== undefined && { message: `${store}: ${logged.message}` }),
    ...(refusal !== undefined && { message: `${logged.message} ${refusal.message}` }),
    ...(error instanceof AggregateError && { aggregateErrors: error.errors.map(toLogged) }),
  };
}

/** An outage, or a failure that one has caused. */
const isExpected = (error: unknown): boolean =>
  isTransientError(error) ||
  isOutage(error) ||
  isLeaseLost(error) ||
  (error instanceof Error && isExpected(error.cause));

/** Why Redis has refused a transaction, when that is an outage: other messages may quote data. */
function refusalOf(error: Error): Error | undefined {
  const refusals: unknown = 'previousErrors' in error ? error.previousErrors : undefined;
  return Array.isArray(refusals) ? refusals.find(isTransientError) : undefined;
}
