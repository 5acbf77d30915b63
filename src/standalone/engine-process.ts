// ClickHouse as a child process: the embedded engine behind its HTTP front.
import { createRequire } from 'node:module';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import { packageRoot } from '../platform/paths.js';
import { THREADPOOL_SIZE } from './clickhouse-front/engine.js';
import { reasonOf, StartProblem } from './problem.js';
import type { ProcessSpec } from './supervised-process.js';

const GIBIBYTE = 1024 ** 3;

export interface EmbeddedClickHouse {
  readonly url: string;
  readonly spec: ProcessSpec;
}

export function embeddedClickHouse(options: { directory: string; port: number }): EmbeddedClickHouse {
  const { directory, port } = options;
  requireChdb();
  const url = `http://127.0.0.1:${port}`;
  // Half of the machine, within reason: the engine refuses queries beyond it instead of being killed.
  const memoryBytes = Math.min(Math.max(totalmem() / 2, GIBIBYTE), 4 * GIBIBYTE);
  const main = join(packageRoot, 'dist', 'src', 'standalone', 'clickhouse-front', 'main.js');
  const numbers = ['--port', String(port), '--memory-bytes', String(Math.floor(memoryBytes))];
  return {
    url,
    spec: {
      name: 'clickhouse',
      command: process.execPath,
      args: [main, '--directory', directory, ...numbers],
      env: { UV_THREADPOOL_SIZE: String(THREADPOOL_SIZE) },
      checkReady: () => checkAnswers(url),
      readyTimeoutMs: 120_000,
      stopSignal: 'SIGTERM',
      stopTimeoutMs: 60_000,
      orphanSignal: 'SIGTERM',
    },
  };
}

function requireChdb(): void {
  try {
    createRequire(import.meta.url).resolve('chdb');
  } catch (error) {
    throw new StartProblem(
      'ClickHouse is missing: the optional package chdb is not installed or does not support this platform; set CLICKHOUSE_URL to a server that is already running.',
      { cause: reasonOf(error) },
    );
  }
}

async function checkAnswers(url: string): Promise<void> {
  const response = await fetch(`${url}/ping`, { signal: AbortSignal.timeout(1000) });
  if (!response.ok) throw new Error(await response.text());
}
