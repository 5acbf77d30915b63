// Page behind the unsubscribe link of a mail. Unsubscribing takes a button or the request of a mail
// program (RFC 8058): a program that only opens links changes nothing.
import { html } from './html.js';
import type { Page } from './layout.js';

export interface UnsubscribeOptions {
  readonly path: string;
  readonly address: string;
  readonly isUnsubscribed: boolean;
}

export const unsubscribePage = ({ path, address, isUnsubscribed }: UnsubscribeOptions): Page => ({
  title: 'Alerts and reports by mail',
  isSignIn: true,
  main: html`<section class="narrow card">
<h1>Alerts and reports by mail</h1>
${
  isUnsubscribed
    ? html`<p>${address} gets no more mails with the alerts and reports of this project.</p>
<form method="post" action="${path}?again=true"><button class="wide" type="submit">Send them again</button></form>`
    : html`<p>${address} gets mails with the alerts and reports of this project.</p>
<form method="post" action="${path}"><button class="wide" type="submit">Unsubscribe</button></form>`
}
</section>`,
});
