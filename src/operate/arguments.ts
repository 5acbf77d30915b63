// Command line of `npm run jobs`.
import { UsageError } from '../platform/usage-error.js';

export type JobsCommand =
  | { readonly kind: 'help' }
  | { readonly kind: 'list' }
  | { readonly kind: 'show' | 'discard'; readonly queue: string; readonly id: string }
  /** Without an id: all dead letters of the queue. */
  | { readonly kind: 'replay'; readonly queue: string; readonly id: string | undefined };

export const HELP = `usage: npm run jobs -- <command>

  list                    dead letters of all queues, with their reasons
  show <queue> <id>       everything about one of them, what it holds included
  replay <queue> <id>     lets it run again;  replay <queue> --all  does so with every dead letter of the queue
  discard <queue> <id>    deletes it and what it holds, for good

REDIS_URL says where the queues are; without it, the service that npm start runs in DATA_DIR is asked.
`;

/** Throws an error whose message is printed to the terminal. */
export function parseJobsCommand(args: readonly string[]): JobsCommand {
  const [kind = 'help', queue, id, ...rest] = args;
  if (kind === 'help' || kind === '--help' || kind === '-h') return { kind: 'help' };
  if (kind === 'list') {
    if (queue !== undefined) throw new UsageError(`list takes no arguments, not "${queue}"`);
    return { kind };
  }
  if (kind !== 'show' && kind !== 'replay' && kind !== 'discard') {
    throw new UsageError(`there is no command "${kind}"; the commands are list, show, replay and discard`);
  }
  if (queue === undefined || id === undefined) throw new UsageError(`${kind} needs a queue and the id of a job`);
  if (rest.length > 0) throw new UsageError(`${kind} takes one job at a time, not also "${rest[0]}"`);
  if (id === '--all') {
    if (kind !== 'replay') throw new UsageError(`${kind} takes one job at a time, not --all`);
    return { kind, queue, id: undefined };
  }
  return { kind, queue, id };
}

/** Throws as `parseJobsCommand` does. */
export function requireQueue(command: JobsCommand, queues: readonly string[]): void {
  if (!('queue' in command) || queues.includes(command.queue)) return;
  throw new UsageError(`there is no queue "${command.queue}"; the queues are ${queues.join(', ')}`);
}
