// Seed of the random tests. It is fixed, so that two runs of one commit agree; ORACLE_SEED=random
// draws another one, which a failure prints, and ORACLE_SEED=N repeats it. As a setup file of
// vitest it is the seed of every property of fast-check.
import fc from 'fast-check';

const FIXED = 20_240_715;
const { ORACLE_SEED } = process.env;

/** From 0 to 2^31 - 1. */
export const SEED = ORACLE_SEED === 'random' ? Math.trunc(Math.random() * 2 ** 31) : Number(ORACLE_SEED ?? FIXED);

fc.configureGlobal({ seed: SEED });
