// `npm run shards`: lists the ClickHouse servers on which projects live, adds one, and moves
// projects between them.
import { readOperatorConfig } from '../src/platform/config.js';
import { createPostgres } from '../src/platform/postgres/client.js';
import { createRedis } from '../src/platform/redis/client.js';
import { addShard } from '../src/shards/add-shard.js';
import { HELP, parseShardsCommand } from '../src/shards/arguments.js';
import { describeShards } from '../src/shards/describe-shards.js';
import { drainShard, moveProject } from '../src/shards/move-project.js';

const stopping = new AbortController();
process.once('SIGINT', () => stopping.abort());

const say = (line: string): void => void process.stdout.write(`${line}\n`);

async function run(): Promise<void> {
  const command = parseShardsCommand(process.argv.slice(2));
  if (command.kind === 'help') return void process.stdout.write(HELP);
  const config = readOperatorConfig();
  const postgres = createPostgres(config, { poolMax: 3 });
  const redis = createRedis(config);
  redis.on('error', () => {});
  const deps = { ...{ config, postgres, redis, say }, signal: stopping.signal };
  try {
    switch (command.kind) {
      case 'list':
        return say(await describeShards(deps));
      case 'add':
        return await addShard(deps, command.urls);
      case 'move':
        return await moveProject(deps, command.project, command.shard);
      case 'drain':
        return await drainShard(deps, command.shard);
    }
  } finally {
    redis.disconnect();
    await postgres.destroy();
  }
}

try {
  await run();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
