// Sends the waiting messages of the outbox: webhooks directly, mails through the mail queue. A row
// is marked as sent after its receiver has accepted it. A process that is killed in between leaves
// the row to another one, which sends it again with the same delivery id.
import type { TakeProjectMail } from '../mail/project-mails.js';
import type { OutboxMail } from '../mail/queue.js';
import { BOUNDS } from '../platform/flow/bounds.js';
import { runClaimed } from '../platform/flow/run-claimed.js';
import type { Logger } from '../platform/log.js';
import type { Postgres } from '../platform/postgres/client.js';
import { type ClaimedDelivery, claimDelivery, confirmClaim, markFailed, markSent } from './delivery-store.js';
import { toHookBody, toMailContent } from './outbox-message.js';
import { OwnerTurns } from './owner-turns.js';
import { parseTarget } from './targets.js';
import { isUnsubscribed, type UnsubscribeLinks } from './unsubscribe.js';
import { type CallResult, callWebhook, type WebhookOptions } from './webhook.js';
import type { WebhookSecrets } from './webhook-secret.js';

export interface SendDeps {
  readonly postgres: Postgres;
  readonly secrets: WebhookSecrets;
  readonly webhooks: WebhookOptions;
  /** Queues a mail once. Undefined without a mail server. */
  readonly sendMail: ((mail: OutboxMail) => Promise<void>) | undefined;
  readonly takeMail: TakeProjectMail;
  readonly unsubscribeLinks: UnsubscribeLinks;
  readonly log: Logger;
}

/** Resolves when no message is due any more. */
export async function sendDueMessages(deps: SendDeps, signal: AbortSignal): Promise<void> {
  const turns = new OwnerTurns();
  await runClaimed({
    claim: () => claimDelivery(deps.postgres, turns),
    work: (delivery) => sendOne(deps, delivery),
    concurrency: BOUNDS.alertMessages,
    signal,
  });
}

async function sendOne(deps: SendDeps, delivery: ClaimedDelivery): Promise<void> {
  const result = await send(deps, delivery);
  if (result === undefined) return;
  if (result.isDelivered) return markSent(deps.postgres, delivery);
  deps.log.warn({ delivery: delivery.id, reason: result.reason }, 'a message of an alert was not delivered');
  await markFailed(deps.postgres, delivery, result);
}

/**
 * Undefined when the claim is over: the row was deleted, or claimed by another process. The claim
 * is confirmed in the last step before the message leaves.
 */
async function send(deps: SendDeps, delivery: ClaimedDelivery): Promise<CallResult | undefined> {
  const target = parseTarget(delivery.target);
  if ('problem' in target) return { isDelivered: false, isFinal: true, reason: `the target ${target.problem}` };
  const { id, projectId } = delivery;
  if (target.kind === 'mail') {
    const { sendMail } = deps;
    if (sendMail === undefined) {
      return { isDelivered: false, isFinal: true, reason: 'the service has no mail server (setting SMTP_URL)' };
    }
    const subscriber = { projectId, address: target.address };
    if (await isUnsubscribed(deps.postgres, subscriber)) {
      return { isDelivered: false, isFinal: true, reason: 'the receiver has unsubscribed' };
    }
    const refusal = await deps.takeMail({ ...subscriber, id });
    if (refusal !== undefined) return { isDelivered: false, isFinal: false, reason: refusal };
    const unsubscribeUrl = deps.unsubscribeLinks.toUrl(subscriber);
    // An erasure waits for the transaction, and then finds the mail in the queue.
    return deps.postgres.transaction(async (transaction) => {
      const confirmed = await confirmClaim(transaction, delivery);
      if (confirmed === undefined) return undefined;
      await sendMail({
        ...{ id, projectId, to: target.address, unsubscribeUrl },
        ...toMailContent(confirmed, unsubscribeUrl),
        withoutRows: toMailContent({ ...confirmed, rows: undefined }, unsubscribeUrl),
      });
      return { isDelivered: true };
    });
  }
  const secret = await deps.secrets.require(projectId);
  if (secret === undefined) {
    const reason = 'the signing key cannot be decrypted, because SECRET_KEY_BASE has changed; rotate it';
    return { isDelivered: false, isFinal: false, reason };
  }
  const confirmed = await confirmClaim(deps.postgres, delivery);
  if (confirmed === undefined) return undefined;
  return callWebhook({ url: target.url, deliveryId: id, body: toHookBody(confirmed, id), secret }, deps.webhooks);
}
