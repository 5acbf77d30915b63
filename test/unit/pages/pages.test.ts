// HTML pages: escaping in templates, and examples of the landing page that must match the compiler.
import { expect, test } from 'vitest';
import { MISTAKE_ANSWER, MISTAKE_QUERY } from '../../../src/pages/example.js';
import { html } from '../../../src/pages/html.js';
import { toProjectId } from '../../../src/platform/ids.js';
import { compile } from '../../../src/query/compile.js';

test.each([
  [html`<p>${'<b> & "c" \'d\''}</p>`, '<p>&lt;b&gt; &amp; &quot;c&quot; &#39;d&#39;</p>'],
  [html`${html`<i>${'<'}</i>`}${['<', html`<br>`, 1]}`, '<i>&lt;</i>&lt;<br>1'],
  [html`${undefined}${[]}${0}`, '0'],
  [html`\n${'\\n'}`, '\n\\n'],
])('a template escapes its values: %s', (template, text) => {
  expect(template.text).toBe(text);
});

test('the compiler gives the error that the landing page shows', () => {
  const context = { projectId: toProjectId(''), nowMs: 0, timezone: 'UTC', limit: 1, offset: 0 };
  expect(() => compile(MISTAKE_QUERY, context)).toThrow(MISTAKE_ANSWER);
});
