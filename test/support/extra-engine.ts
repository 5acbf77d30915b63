// One more ClickHouse of a test, as a second shard: an engine of its own in a temporary folder.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { embeddedClickHouse } from '../../standalone/clickhouse-server.js';
import { findFreePort } from '../../standalone/free-port.js';
import { InstanceLock } from '../../standalone/instance-lock.js';
import { SupervisedProcess } from '../../standalone/supervised-process.js';
import { FOLDER_PREFIX } from './stack-engines.js';

export interface ExtraEngine {
  readonly url: string;
  /** Where it keeps its files. */
  readonly directory: string;
  /** Kills it; its data stays. */
  kill(): Promise<void>;
  start(): Promise<void>;
  /** From now on it accepts connections and answers nothing. */
  hang(): void;
  resume(): void;
  /** Ends it and removes its folder. */
  remove(): Promise<void>;
}

export async function startExtraEngine(): Promise<ExtraEngine> {
  const directory = mkdtempSync(join(tmpdir(), FOLDER_PREFIX));
  const lock = await InstanceLock.take(directory);
  const { spec, url } = embeddedClickHouse({
    directory: join(directory, 'clickhouse'),
    port: await findFreePort(),
    password: 'test',
    database: 'test_*',
  });
  const create = () =>
    new SupervisedProcess(spec, {
      line: () => {},
      started: (started, pid) => lock.addChild(started, pid),
      ended: (_name, pid) => lock.removeChild(pid),
      restarting: () => {},
    });
  let running = create();
  await running.start();
  const signal = (name: NodeJS.Signals) => {
    if (running.pid !== undefined) process.kill(running.pid, name);
  };
  return {
    ...{ url, directory },
    kill: async () => {
      running.kill();
      await running.stop();
    },
    start: async () => {
      running = create();
      await running.start();
    },
    hang: () => signal('SIGSTOP'),
    resume: () => signal('SIGCONT'),
    remove: async () => {
      await running.stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
