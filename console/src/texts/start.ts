// Texts of the screen that sends a first event.

export const startTexts = {
  title: 'Send your first event',
  lead: 'Choose where your events come from. The light turns green with the first one.',
  waiting: 'Waiting for the first event',
  received: 'First event received',
  receivedMore: (count: string) => `Events are arriving: ${count} in the last 30 days`,
  rejected: 'Events arrive, but are rejected',
  nothing: 'Nothing has arrived yet. Check that the key is the one of this page, and that the address can be reached.',
  ask: 'Ask about them',
  publicKey: 'Public key',
  publicKeyNote: 'For pages and apps. It can only send.',
  secretKey: 'Secret key',
  secretKeyNote: 'For servers. It sends, asks and administers: keep it out of pages and repositories.',
  secretLost: 'It cannot be read any more, because SECRET_KEY_BASE has changed. Rotate it for a new one.',
  show: 'Show',
  hide: 'Hide',
  copy: 'Copy',
  ways: { page: 'Web page', shell: 'Shell', node: 'Node', python: 'Python', query: 'Ask from a program' },
  wayLabel: 'Where events come from',
  wayNotes: {
    page: 'Put this into the head of every page. Page views are sent by themselves.',
    shell: 'Run this in a terminal.',
    node: 'With the client library of this repository, clients/node.',
    python: 'With the client library of this repository, clients/python.',
    query: 'Queries need the secret key, or a token with the scope query.',
  },
} as const;
