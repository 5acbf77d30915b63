// The process of tenant A: runs one attack until it is killed. Apart from the run, so that attacking takes no time from measuring,
// and at a low priority: on a machine of its own an attacker would take none from the service.
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
