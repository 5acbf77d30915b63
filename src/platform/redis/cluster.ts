// A Redis Cluster refuses commands whose keys are on different servers, and jobs, their payloads
// and rate limits use such keys.
import { ConfigProblem } from '../config-problem.js';
import type { Redis } from './client.js';

export const CLUSTER_ADVICE = 'take a Redis without cluster mode: the service needs all keys on one server';

/** `info`: the section server of INFO. */
export const isCluster = (info: string): boolean => /^redis_mode:cluster/m.test(info);

/** Throws a ConfigProblem for a Redis Cluster. Managed servers may forbid INFO: they are let in. */
export async function refuseCluster(redis: Redis): Promise<void> {
  if (isCluster(await redis.info('server').catch(() => ''))) {
    throw new ConfigProblem(`REDIS_URL is a Redis Cluster: ${CLUSTER_ADVICE}`);
  }
}
