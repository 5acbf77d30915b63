// `npm run jobs`: lists, shows, replays and discards dead letters.
import { HELP, type JobsCommand, parseJobsCommand, requireQueue } from '../src/operate/arguments.js';
import {
  discardDeadLetter,
  listDeadLetters,
  replayDeadLetters,
  showDeadLetter,
  withQueue,
} from '../src/operate/dead-letter-jobs.js';
import { queuesOf } from '../src/operate/queues.js';
import { FIRST_SHARD, listShards } from '../src/platform/clickhouse/shards.js';
import { failWithMessage } from '../src/platform/command-failure.js';
import { type Config, readOperatorConfig } from '../src/platform/config.js';
import { NoAnswer, withTimeout } from '../src/platform/flow/with-timeout.js';
import { createPostgres } from '../src/platform/postgres/client.js';
import { createRedis, type Redis } from '../src/platform/redis/client.js';

async function answer(
  redis: Redis,
  command: Exclude<JobsCommand, { kind: 'help' }>,
  queues: readonly string[],
): Promise<string> {
  switch (command.kind) {
    case 'list':
      return listAll(redis, queues);
    case 'show':
      return withQueue(redis, command.queue, async (queue) =>
        JSON.stringify(await showDeadLetter(redis, queue, command.id), null, 2),
      );
    case 'replay':
      return withQueue(redis, command.queue, async (queue) => {
        const count = await replayDeadLetters(redis, queue, command.id);
        return `${count} ${count === 1 ? 'job runs' : 'jobs run'} again`;
      });
    case 'discard':
      return withQueue(redis, command.queue, async (queue) => {
        await discardDeadLetter(redis, queue, command.id);
        return `job ${command.id} and what it held are gone`;
      });
  }
}

const REACH_TIMEOUT_MS = 5000;

/** Throws when Redis does not answer in time, so that the command does not hang. */
async function requireRedis(redis: Redis): Promise<void> {
  redis.on('error', () => {});
  await withTimeout(REACH_TIMEOUT_MS, redis.ping()).catch((error: unknown) => {
    throw error instanceof NoAnswer ? new Error('Redis (REDIS_URL) does not answer') : error;
  });
}

/** Queues of the first shard when PostgreSQL does not say which shards there are. */
async function listQueues(config: Config): Promise<readonly string[]> {
  const postgres = createPostgres(config, { poolMax: 1 });
  const known = await withTimeout(REACH_TIMEOUT_MS, Promise.resolve(listShards(postgres))).catch(() => {
    process.stderr.write(
      'PostgreSQL (DATABASE_URL) does not say which shards there are: only the first is looked at\n',
    );
    return [{ id: FIRST_SHARD }];
  });
  return queuesOf({ known });
}

async function listAll(redis: Redis, queues: readonly string[]): Promise<string> {
  const jobs = (await Promise.all(queues.map((name) => withQueue(redis, name, listDeadLetters)))).flat();
  if (jobs.length === 0) return 'there are no dead letters';
  return jobs
    .map(({ queue, id, failedAt, attempts, reason }) => `${queue}  ${id}  ${failedAt}  ${attempts} attempts  ${reason}`)
    .join('\n');
}

let config: Config | undefined;
try {
  const command = parseJobsCommand(process.argv.slice(2));
  if (command.kind === 'help') process.stdout.write(HELP);
  else {
    config = readOperatorConfig();
    const queues = await listQueues(config);
    requireQueue(command, queues);
    const redis = createRedis(config);
    await requireRedis(redis);
    process.stdout.write(`${await answer(redis, command, queues)}\n`);
  }
} catch (error) {
  failWithMessage(error, config);
}
// An unresponsive store must not keep the command running.
process.exit();
