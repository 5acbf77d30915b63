// Cards that are changed in the text of a dashboard to random texts.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { changeCard } from '../../../src/dashboards/edit-card.js';
import { baseOf, COMMENTED } from '../../unit/dashboards/documents.js';

test('a change of a card to any text is read back, and changes nothing else', () => {
  const text = fc.oneof(
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }),
    fc
      .array(fc.constantFrom('a', ' ', '\n', '#', ':', '"', "'", '|', '- ', '{{x}}', '\t', '%', '&', '*'), {
        minLength: 1,
        maxLength: 20,
      })
      .map((parts) => parts.join('')),
  );
  const property = fc.property(fc.constantFrom('orders', 'visits', 'notes'), text, text, (id, title, query) => {
    const key = id === 'notes' ? 'markdown' : 'query';
    const changed = changeCard(COMMENTED, { ...baseOf(id), title, [key]: query });
    const [before, after] = [parse(COMMENTED), parse(changed)];
    const card = before.sections[0].cards.find((each: { id: string }) => each.id === id);
    Object.assign(card, { title, [key]: query });
    expect(after).toEqual(before);
    expect(changed).toContain('# The most important one.\n');
    expect(changed).toContain('title:   Sales   # shown in the list\n');
  });
  fc.assert(property, { numRuns: 500 });
});
