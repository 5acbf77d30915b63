// `npm run shards`: lists the ClickHouse servers on which projects live, adds and removes them,
// changes their addresses, and moves projects between them.
import { env } from 'node:process';
import { failWithMessage } from '../src/platform/command-failure.js';
import { type Config, readOperatorConfig } from '../src/platform/config.js';
import { EXIT_INTERRUPTED } from '../src/platform/exit-status.js';
import { createInterruptSignal } from '../src/platform/interrupt.js';
import { createPostgres } from '../src/platform/postgres/client.js';
import { StepProgress } from '../src/platform/progress.js';
import { createRedis } from '../src/platform/redis/client.js';
import { refuseOptionsOfNpm } from '../src/platform/usage-error.js';
import { addShard, setSeveralHosts } from '../src/shards/add-shard.js';
import { HELP, parseShardsCommand } from '../src/shards/arguments.js';
import { changeAddress } from '../src/shards/change-address.js';
import { describeShards } from '../src/shards/describe-shards.js';
import { drainShard, moveProject } from '../src/shards/move-project.js';
import { removeShard } from '../src/shards/remove-shard.js';

const interrupted = createInterruptSignal();

const progress = new StepProgress(process.stderr);

function say(line: string): void {
  progress.clear();
  process.stdout.write(`${line}\n`);
}

let config: Config | undefined;

async function run(): Promise<void> {
  refuseOptionsOfNpm({ lost: true, 'several-hosts': true }, env);
  const command = parseShardsCommand(process.argv.slice(2));
  if (command.kind === 'help') return void process.stdout.write(HELP);
  config = readOperatorConfig();
  const postgres = createPostgres(config, { poolMax: 3 });
  const redis = createRedis(config);
  redis.on('error', () => {});
  const deps = { ...{ config, postgres, redis, say, progress }, signal: interrupted };
  try {
    switch (command.kind) {
      case 'list':
        return say(await describeShards(deps));
      case 'add':
        return await addShard(deps, command.urls, { cluster: command.cluster });
      case 'several-hosts':
        return await setSeveralHosts(deps, command.shard, command.cluster);
      case 'move':
        return await moveProject(deps, command.project, command.shard);
      case 'drain':
        return await drainShard(deps, command.shard);
      case 'remove':
        return await removeShard(deps, command);
      case 'address':
        return await changeAddress(deps, command.shard, command.urls);
    }
  } finally {
    redis.disconnect();
    await postgres.destroy();
  }
}

try {
  await run();
} catch (error) {
  progress.clear();
  if (interrupted.aborted) {
    process.stderr.write('interrupted; run the same command again: it begins with what is left\n');
    process.exitCode = EXIT_INTERRUPTED;
  } else failWithMessage(error, config);
}
