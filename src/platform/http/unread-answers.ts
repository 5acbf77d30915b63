// Closes connections whose client has stopped reading its answer: until then, the process holds
// what is left of it. All answers are looked at from time to time, because a timer for each would
// cost every event.
import type { ServerResponse } from 'node:http';

const LOOKS = 6;

/**
 * Returns the function that ends it. A route may allow more time by `setTimeout` of its response.
 */
export function closeUnreadAnswers(answers: ReadonlySet<ServerResponse>, unreadMs: number): () => void {
  const look = () => {
    for (const { socket, writableLength } of answers) {
      // The timer of a socket knows the progress of a long write, and by default closes the
      // connection.
      if (writableLength > 0 && !socket?.timeout) socket?.setTimeout(unreadMs);
      else if (writableLength === 0 && socket?.timeout === unreadMs) socket.setTimeout(0);
    }
  };
  const timer = setInterval(look, unreadMs / LOOKS);
  timer.unref();
  return () => clearInterval(timer);
}
