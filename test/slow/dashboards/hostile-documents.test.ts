// Fuzzing of dashboard documents: each is accepted, or rejected with positions inside the text;
// none crashes the parser or takes long.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseDashboard } from '../../../src/dashboards/parse-dashboard.js';
import type { DashboardProblem } from '../../../src/dashboards/problems.js';
import { PublicError } from '../../../src/platform/errors.js';
import { toProjectId } from '../../../src/platform/ids.js';
import { packageRoot } from '../../../src/platform/paths.js';
import { NOW_MS, PROJECT } from '../../golden/dataset.js';
import { anyText } from '../../support/any-text.js';

const FOLDER = join(packageRoot, 'examples/dashboards');
const EXAMPLES = readdirSync(FOLDER).map((name) => readFileSync(join(FOLDER, name), 'utf8'));
const CONTEXT = {
  projectId: toProjectId(PROJECT),
  nowMs: NOW_MS,
  timezone: 'UTC',
  key: 'customer',
  definitions: [],
  privateAddresses: [],
};

function expectHandled(text: string): void {
  try {
    parseDashboard(text, CONTEXT);
  } catch (error) {
    if (!(error instanceof PublicError)) throw error;
    const lines = text.split('\n');
    for (const { line, column, message, hint } of error.details as DashboardProblem[]) {
      expect(lines[line - 1]).toBeDefined();
      expect(column).toBeGreaterThanOrEqual(1);
      expect(column).toBeLessThanOrEqual([...(lines[line - 1] ?? '')].length + 1);
      expect(message).not.toMatch(/undefined|\[object/);
      expect(hint).not.toMatch(/undefined|\[object/);
    }
  }
}

const PIECES = [
  ...[
    '\n',
    '\t',
    '  ',
    ': ',
    '- ',
    '? ',
    '| ',
    '|\n',
    '>-\n  ',
    '"',
    "'",
    '#',
    '{',
    '}',
    '[',
    ']',
    ',',
    '&a ',
    '*a',
    '!!str ',
    '---\n',
    '...\n',
  ],
  ...[
    '{{',
    '}}',
    '{{range}}',
    '{{customer.event_fragment}}',
    '{{value}}',
    '<<: ',
    '__proto__: 1',
    'null',
    '1e999',
    '.nan',
    '0x1F',
    '~',
    '\0',
    '\ud800',
    '\u2028',
    '\\',
    '%YAML 1.1\n',
    '\ufeff',
    '\r',
  ],
];

/** Position, length to remove, and text to insert. */
const edits = fc.array(
  fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.nat(12), fc.constantFrom('', ...PIECES)),
  { minLength: 1, maxLength: 4 },
);

test('parseDashboard() accepts or rejects every mutation of an example', () => {
  fc.assert(
    fc.property(fc.constantFrom(...EXAMPLES), edits, (example, changes) => {
      const text = changes.reduce((before, [place, length, piece]) => {
        const from = Math.floor(place * before.length);
        return before.slice(0, from) + piece + before.slice(from + length);
      }, example);
      expectHandled(text);
    }),
    { numRuns: 150 },
  );
}, 60_000);

test('parseDashboard() accepts or rejects any text', () => {
  const anything = fc.array(
    fc.oneof(fc.constantFrom(...PIECES, 'version', 'title', 'sections', 'cards', 'query'), anyText(5)),
  );
  fc.assert(
    fc.property(anything, (pieces) => expectHandled(pieces.join(''))),
    { numRuns: 300 },
  );
}, 60_000);
