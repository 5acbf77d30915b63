// Process of tenant A: runs one attack until it is killed. A separate process, so that the attack
// takes no time from the measurement, and with low priority, because a real attacker would not
// share the machine with the service.
import { setPriority } from 'node:os';
import { createRandom } from '../random.js';
import { ATTACKS, isAttack } from './attacks.js';
import type { Tenant } from './tenants.js';

const NICENESS = 10;

const [, , name = '', seed = '', tenant = ''] = process.argv;
if (!isAttack(name)) throw new Error(`there is no attack "${name}"`);
setPriority(NICENESS);
process.once('disconnect', () => process.exit(0));
await ATTACKS[name].run(JSON.parse(tenant) as Tenant, createRandom(Number(seed)));
