// Problem of a setting that an operator has to change; and how a process ends with it. Apart from
// config.ts, because threads that check a setting need no schema.

/** Its message names the settings that are missing or invalid. */
export class ConfigProblem extends Error {
  override readonly name = 'ConfigProblem';
}

/** For processes: a wrong setting ends the process with the message alone, without a trace. */
export function orExit<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    return exitForProblem(error);
  }
}

/** The same for what a promise rejects with. Throws any other error. */
export function exitForProblem(error: unknown): never {
  if (!(error instanceof ConfigProblem)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
}
