// HTML pages: escaping in templates, and examples of the landing page that must match the compiler.
import { expect, test } from 'vitest';
import { MISTAKE_ANSWER, MISTAKE_QUERY } from '../../../src/pages/example.js';
import { html } from '../../../src/pages/html.js';
import { invitationPage } from '../../../src/pages/invitation.js';
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

test('the page of an invitation names a way out for an address that the provider does not confirm', () => {
  const email = 'ann@example.com';
  const sent = { organizationId: 'o', organization: 'Team', inviter: 'Bob', expiresAt: new Date(0) };
  const link = { ...sent, state: 'open', role: 'member', email } as const;
  const show = (isVerified: boolean) =>
    invitationPage({ path: '/invitations/x', link, reader: { name: email, email, isVerified, isMember: false } }).main
      .text;
  expect(show(false)).toContain('Some providers confirm no address: then ask the operator of this service.');
  expect(show(false)).not.toContain('>Join Team</button>');
  expect(show(true)).toContain('>Join Team</button>');
});
