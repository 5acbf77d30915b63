// Vitest sequencer: starts the longest files of a tier first, so that no tier ends with one of them
// running alone. Without results of an earlier run, as in a fresh clone, vitest starts the largest
// files first, and some of the longest have few lines.
import { relative } from 'node:path';
import { BaseSequencer } from 'vitest/node';

/** Files of half a minute and more, those of one tier in the order in which they start. */
const LONGEST = [
  'test/integration/oracle-rows.test.ts',
  'test/integration/oracle-behaviour.test.ts',
  'test/integration/oracle-people.test.ts',
  'test/integration/tenants.test.ts',
  'test/integration/privacy-fairness.test.ts',
  'test/integration/query-fairness.test.ts',
  'test/integration/catalog.test.ts',
  'test/integration/query-matrix.test.ts',
  'test/integration/erasure.test.ts',
  'test/integration/route-matrix.test.ts',
  'test/integration/injection.test.ts',
  'test/integration/engine-liveness.test.ts',
  'test/golden/golden.rows.test.ts',
  'test/integration/client-behaviours.test.ts',
  'test/integration/project-deletion.test.ts',
  'test/integration/first-seen-times.test.ts',
  'test/integration/definitions.test.ts',
  'test/integration/export-readers.test.ts',
  'test/e2e/faults.test.ts',
  'test/e2e/erasure.test.ts',
  'test/e2e/console.test.ts',
  'test/e2e/console-dashboards.test.ts',
  'test/e2e/console-experiments-data.test.ts',
  'test/e2e/console-answers.test.ts',
  'test/e2e/identity-exact.test.ts',
  'test/e2e/interrupted-faults.test.ts',
  'test/e2e/console-demo.test.ts',
  'test/e2e/standalone.test.ts',
  'test/e2e/console-people.test.ts',
  'test/e2e/overload.test.ts',
];

export default class LongestFirst extends BaseSequencer {
  /**
   * @override
   * @param {import('vitest/node').TestSpecification[]} files
   */
  async sort(files) {
    const sorted = await super.sort(files);
    const rankOf = (/** @type {import('vitest/node').TestSpecification} */ { moduleId, project }) => {
      const rank = LONGEST.indexOf(relative(this.ctx.config.root, moduleId));
      return [project.config.sequence.groupOrder, rank < 0 ? LONGEST.length : rank];
    };
    return sorted.sort((one, other) => {
      const [[group = 0, rank = 0], [otherGroup = 0, otherRank = 0]] = [rankOf(one), rankOf(other)];
      return group - otherGroup || rank - otherRank;
    });
  }
}
