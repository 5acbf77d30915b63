// Texts of the screen People.
import { plural } from './plural.js';

export const peopleTexts = {
  search: 'Find people',
  searchNote: 'A user id, an e-mail address, or *@example.com for everyone of a domain.',
  find: 'Find',
  found: (shown: number, total: number) =>
    shown === total
      ? plural(total, 'person', 'people')
      : `The ${shown} seen most recently of ${plural(total, 'person', 'people')}`,
  newest: 'Seen most recently',
  none: 'No one was found',
  noneYet: 'No person has a profile yet',
  noneNote: 'Profiles come from /identify. The events of an id without a profile can be opened, too.',
  active: 'Who was active in the last 30 days',
  open: (id: string) => `Open the events of ${id}`,
  title: 'Person',
  back: 'People',
  range: 'Events of',
  ranges: { 'last 7d': '7 days', 'last 30d': '30 days', 'last 90d': '90 days', 'last 1y': 'a year' },
  noEvents: 'No events in this time',
  profile: 'Profile',
  noProfile: 'No profile: /identify was never called for this id.',
  devices: 'Devices',
  noDevices: 'No device has sent events in this time.',
  devicesNote: 'A device belongs to the person whose user id it was last identified with, or who signed in on it.',
  devicesMost: 'There are more devices than are listed: these sent the most events.',
  deviceOwn: 'sent events of this user',
  deviceMapped: 'its anonymous events are joined, because it is mapped to this user',
  events: (count: number) => plural(count, 'event'),
  timeline: 'Timeline',
  ask: 'Open in Ask',
  export: 'Export all events',
  erase: 'Erase',
  eraseTitle: 'Erase this person',
  eraseNote:
    'Deletes the events, profile and devices of the person, now and in every copy, and refuses what arrives later about their past. It cannot be undone.',
  typeId: 'Type the user id to confirm:',
  eraseIt: 'Erase for ever',
  erased: 'Erased',
  erasing: 'The erasure goes on in the background.',
  receipt: 'Receipt',
  counts: { events: 'Events', mappings: 'Device mappings', profiles: 'Profiles', devices: 'Devices' },
  verified: (at: string) => `Verified ${at}`,
  purgeBy: (at: string) => `Files rewritten by ${at}`,
  request: (id: string) => `Request ${id}`,
} as const;
