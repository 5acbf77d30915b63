// Invitation mails with hostile organization names.
import { expect, test } from 'vitest';
import { toInvitationMail } from '../../../src/accounts/invitation-mail.js';

const mailOf = (organization: string) =>
  toInvitationMail({ email: 'ann@example.com', organization, acceptUrl: 'https://analytics.example/invitations/x' });

test.each([
  'Acme',
  'Acme Inc.',
  'Büro für Übergänge',
  '日本語',
  "Ada's organization",
  'Smith, Jones & Co. (2024)',
  'A-1',
])('toInvitationMail() contains a harmless organization name: %s', (name) => {
  expect(mailOf(name).subject).toBe(`Invitation to ${name}`);
  expect(mailOf(name).text).toContain(`You are invited to join ${name} on Event Analytics Service.`);
});

test.each([
  'https://evil.example/login',
  'Go to evil.example now',
  'evil.example',
  'www.evil',
  'evil。example',
  'evil．example',
  'evil․example',
  'ann@evil.example',
  '//evil',
  'evil:8080',
  'call +49 30 1234567',
  '[Sign in](evil)',
  '<a href=x>',
  'evil\u200b.example',
  'x'.repeat(65),
])('toInvitationMail() leaves out an organization name that mail programs turn into a link: %s', (name) => {
  const { subject, text } = mailOf(name);
  expect(subject).toBe('Invitation to an organization');
  expect(text).toContain('You are invited to join an organization on Event Analytics Service.');
  expect(text).not.toContain(name);
  expect(text.match(/[a-z]+:\/\/\S+/g)).toEqual(['https://analytics.example/invitations/x']);
});
