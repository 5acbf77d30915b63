// SMTP server for tests: stores the mails it receives, and can be told to reject the
// password or the sender.
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';
import { eventually } from './eventually.js';

export interface TestMailServer {
  /** For SMTP_URL. */
  readonly url: string;
  /** The raw mails, headers first. */
  readonly mails: readonly string[];
  /** Attempts to reach a recipient of HANGING_DOMAIN. */
  readonly hanging: readonly string[];
  isPasswordKnown: boolean;
  /** Otherwise the server requires another login before it takes mails of the sender. */
  isSenderKnown: boolean;
  /** Otherwise the server keeps a mail and says that it did not. */
  isAcknowledging: boolean;
  /** Waits for a mail to an address and resolves with it, with wrapped lines rejoined. */
  mailTo(address: string): Promise<string>;
  close(): void;
}

/** The address without a mailbox. */
export const UNKNOWN_MAILBOX = 'nobody@example.com';
/** The server never answers about recipients of this domain. */
export const HANGING_DOMAIN = 'hanging.example.com';

export async function startMailServer(): Promise<TestMailServer> {
  const mails: string[] = [];
  const hanging: string[] = [];
  const smtp = new SMTPServer({
    allowInsecureAuth: true,
    disabledCommands: ['STARTTLS'],
    onAuth({ username }, _session, done) {
      if (server.isPasswordKnown) done(null, { user: username });
      else done(Object.assign(new Error('authentication failed'), { responseCode: 535 }));
    },
    onMailFrom(_address, _session, done) {
      if (server.isSenderKnown) done();
      else done(Object.assign(new Error('authentication required'), { responseCode: 530 }));
    },
    onRcptTo({ address }, _session, done) {
      if (address.endsWith(`@${HANGING_DOMAIN}`)) hanging.push(address);
      else if (address === UNKNOWN_MAILBOX) done(Object.assign(new Error('no such mailbox'), { responseCode: 550 }));
      else done();
    },
    onData(stream, _session, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        mails.push(Buffer.concat(chunks).toString());
        if (server.isAcknowledging) done();
        else done(Object.assign(new Error('try again later'), { responseCode: 451 }));
      });
    },
  });
  await once(smtp.listen(0, '127.0.0.1'), 'listening');
  const { port } = smtp.server.address() as AddressInfo;
  const mailTo = (address: string): Promise<string> =>
    eventually(() => {
      const mail = mails.find((text) => text.includes(`To: ${address}`));
      if (mail === undefined) throw new Error(`no mail to ${address} has come`);
      return mail.replaceAll('=\r\n', '');
    });
  const url = `smtp://team:password@127.0.0.1:${port}`;
  const close = () => smtp.close();
  const willing = { isPasswordKnown: true, isSenderKnown: true, isAcknowledging: true };
  const server: TestMailServer = { url, mails, hanging, ...willing, mailTo, close };
  return server;
}
