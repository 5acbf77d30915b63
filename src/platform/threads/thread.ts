// Entry point of a pool thread: imports the module of a request, runs its task, and replies. One
// request at a time.
import { parentPort } from 'node:worker_threads';
import { type ThreadReply, type ThreadRequest, type ThreadTask, toReply } from './thread-task.js';

const send = (reply: ThreadReply, moved: readonly ArrayBuffer[] = []): void => parentPort?.postMessage(reply, moved);

async function serve({ module, name, input }: ThreadRequest): Promise<void> {
  try {
    const task = (await import(module))[name] as ThreadTask<unknown, unknown>;
    send({ kind: 'started' });
    const output = await task.run(input);
    send({ kind: 'done', output }, task.buffersOfOutput?.(output));
  } catch (error) {
    send(toReply(error));
  }
}

parentPort?.on('message', serve);
