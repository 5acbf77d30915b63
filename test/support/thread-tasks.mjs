// Misbehaving tasks for thread-pool.test.ts. A plain module, because threads cannot load
// TypeScript.
const task = (name, run) => ({
  module: import.meta.url,
  name,
  run,
  tooCostly: 'the task needs more than {limit}; ask for less',
});

export const echo = task('echo', (input) => input);
export const echoMoved = {
  ...task('echoMoved', (bytes) => bytes),
  buffersOfInput: (bytes) => [bytes.buffer],
  buffersOfOutput: (bytes) => [bytes.buffer],
};
export const spin = task('spin', (ms) => {
  const end = Date.now() + ms;
  while (Date.now() < end);
  return ms;
});
// Small objects: when a thread allocates arrays of several KB, Node 24 may end the whole process
// instead of the thread (src/platform/threads/pool-thread.ts).
export const grow = task('grow', () => {
  let last = {};
  for (;;) last = { last };
});
export const exit = task('exit', () => process.exit(0));
export const fail = task('fail', () => {
  throw new TypeError('a bug');
});
