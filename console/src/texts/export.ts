// Texts of exporting a project.

export const exportTexts = {
  note: 'Takes out all events, devices and profiles, as lines of JSON. Each export is recorded in the audit trail.',
  events: 'Events',
  eventsNote: 'One event per line, as POST /track accepts it.',
  from: 'From',
  to: 'Before',
  toNote: 'Days in UTC. Without them: all events.',
  empty: '"From" must be earlier than "Before".',
  downloadEvents: 'Download events',
  identities: 'Devices and profiles',
  identitiesNote:
    'Which device belongs to which user, and the properties of users: one call of POST /identify/batch per line.',
  downloadIdentities: 'Download devices and profiles',
};
