// Says that messages to mailboxes fail, where the service has no mail server.
import { readBoot } from '../boot.js';
import { texts } from '../texts.js';

/** Undefined where the text names no mailbox, or mail can be sent. */
export const noMailFor = (text: string): string | undefined =>
  text.includes('mailto:') && !readBoot().hasMail ? texts.noMail : undefined;
