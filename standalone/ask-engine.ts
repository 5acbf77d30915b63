// Sends one request to an engine on loopback and reads the beginning of its reply.
import { connect } from 'node:net';

/** Resolves when `read` finds an answer in the reply so far. */
export function askEngine(
  engine: string,
  { port, request, timeoutMs }: { port: number; request: string | Buffer; timeoutMs: number },
  read: (reply: string) => string | undefined,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port });
    const timer = setTimeout(() => socket.destroy(new Error(`${engine} does not answer`)), timeoutMs);
    let reply = '';
    socket.once('error', reject);
    socket.once('close', () => {
      clearTimeout(timer);
      reject(new Error(`${engine} closed the connection`));
    });
    socket.on('data', (chunk) => {
      reply += chunk.toString('latin1');
      const answer = read(reply);
      if (answer === undefined) return;
      resolve(answer);
      socket.destroy();
    });
    socket.write(request);
  });
}
