// `npm run simulate [-- 10000]`: error rates of the results of experiments of value, in simulation:
// without a difference, and with a lift of 10 %. The slow tests run fewer experiments of the same
// designs.
import { readOptions, requireWholeNumber } from '../src/platform/usage-error.js';
import { countErrors, VALUE_DESIGNS } from './simulate-values.js';

const experiments = readOptions(() => requireWholeNumber('the number of experiments', process.argv[2] ?? '10000', 1));
const percent = (share: number): string => `${(share * 100).toFixed(2)} %`;

process.stdout.write(`${experiments} experiments of each design, looked at daily for 60 days\n`);
for (const [name, design] of Object.entries(VALUE_DESIGNS)) {
  const same = countErrors(design, experiments, 20_261_122);
  const lifted = countErrors({ ...design, factor: 1.1 }, experiments, 20_261_123);
  process.stdout.write(
    `${name}: false positives ${percent(same.rejected)}, coverage ${percent(same.covered)}; ` +
      `with a lift of 10 %: coverage ${percent(lifted.covered)}, found ${percent(lifted.rejected)}\n`,
  );
}
