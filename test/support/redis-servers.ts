// Redis servers of one test, beside the one that the tests share.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findFreePort } from '../../standalone/free-port.js';
import { embeddedRedis } from '../../standalone/redis-server.js';
import { eventually } from './eventually.js';

export class RedisServers {
  readonly #running: { readonly child: ChildProcess; readonly directory: string }[] = [];

  /** Resolves with its URL. A second account has all rights (`toAdminUrl`). */
  async start(...settings: readonly string[]): Promise<string> {
    const directory = mkdtempSync(join(tmpdir(), 'event-analytics-redis-'));
    const passwords = { password: 'password', adminPassword: 'admin' };
    const { spec, url } = embeddedRedis({ directory, port: await findFreePort(), ...passwords });
    await spec.beforeStart?.();
    const child = spawn(spec.command, [...spec.args, ...settings], { stdio: 'ignore', cwd: spec.cwd, ...spec.user });
    this.#running.push({ child, directory });
    await eventually(() => spec.checkReady());
    return url;
  }

  stop(): void {
    for (const { child, directory } of this.#running) {
      child.kill('SIGKILL');
      rmSync(directory, { recursive: true });
    }
  }
}

export const toAdminUrl = (url: string): string => url.replace(/\/\/.*@/, '//admin:admin@');
