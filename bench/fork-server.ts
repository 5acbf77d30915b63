// Starts a server beside the service, as a process of its own.
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** A module of this folder that says its port. It ends when it is disconnected. */
export async function forkServer(
  module: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<ChildProcess & { url: string }> {
  const server = fork(fileURLToPath(new URL(module, import.meta.url)), { env: { ...process.env, ...settings } });
  const port = await new Promise((resolve, reject) => {
    server.once('message', (message: { port: number }) => resolve(message.port));
    server.once('exit', (code) => reject(new Error(`${module} ended with code ${code}`)));
  });
  return Object.assign(server, { url: `http://127.0.0.1:${port}` });
}
