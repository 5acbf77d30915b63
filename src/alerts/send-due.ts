// Sends the waiting messages of the outbox: webhooks directly, mails through the mail queue. A row
// is marked as sent after its receiver has accepted it. A process that is killed in between leaves
// the row to another one, which sends it again with the same delivery id.
import { performance } from 'node:perf_hooks';
import type { TakeProjectMail } from '../mail/project-mails.js';
import type { Mail } from '../mail/queue.js';
import { BOUNDS } from '../platform/flow/bounds.js';
import { runClaimed } from '../platform/flow/run-claimed.js';
import type { Logger } from '../platform/log.js';
import type { Postgres } from '../platform/postgres/client.js';
import { CLAIM_SECONDS, type ClaimedDelivery, claimDelivery, markFailed, markSent } from './delivery-store.js';
import { toHookBody, toMailContent } from './outbox-message.js';
import { parseTarget } from './targets.js';
import { isUnsubscribed, type UnsubscribeLinks } from './unsubscribe.js';
import { type CallResult, callWebhook, type WebhookOptions } from './webhook.js';
import type { WebhookSecrets } from './webhook-secret.js';

const CLAIM_USED_WITHIN_MS = (CLAIM_SECONDS * 1000) / 2;

export interface SendDeps {
  readonly postgres: Postgres;
  readonly secrets: WebhookSecrets;
  readonly webhooks: WebhookOptions;
  /** Queues a mail under the id, once. Undefined without a mail server. */
  readonly sendMail: ((mail: Mail, id: string) => Promise<void>) | undefined;
  readonly takeMail: TakeProjectMail;
  readonly unsubscribeLinks: UnsubscribeLinks;
  readonly log: Logger;
}

/** Resolves when no message is due any more. */
export async function sendDueMessages(deps: SendDeps, signal: AbortSignal): Promise<void> {
  await runClaimed({
    claim: async () => {
      const claimedAt = performance.now();
      const delivery = await claimDelivery(deps.postgres);
      return delivery && { delivery, claimedAt };
    },
    work: ({ delivery, claimedAt }) => sendOne(deps, delivery, claimedAt),
    concurrency: BOUNDS.alertMessages,
    signal,
  });
}

async function sendOne(deps: SendDeps, delivery: ClaimedDelivery, claimedAt: number): Promise<void> {
  const result = await send(deps, delivery, () => performance.now() - claimedAt < CLAIM_USED_WITHIN_MS);
  if (result === undefined) return;
  if (result.isDelivered) return markSent(deps.postgres, delivery);
  deps.log.warn({ delivery: delivery.id, reason: result.reason }, 'a message of an alert was not delivered');
  await markFailed(deps.postgres, delivery, result);
}

/**
 * Undefined when the process was stopped for so long that another one may have claimed the row. The
 * check is the last step before the message leaves.
 */
async function send(
  deps: SendDeps,
  delivery: ClaimedDelivery,
  isClaimed: () => boolean,
): Promise<CallResult | undefined> {
  const target = parseTarget(delivery.target);
  if ('problem' in target) return { isDelivered: false, isFinal: true, reason: `the target ${target.problem}` };
  const { id, projectId } = delivery;
  if (target.kind === 'mail') {
    if (deps.sendMail === undefined) {
      return { isDelivered: false, isFinal: true, reason: 'the service has no mail server (setting SMTP_URL)' };
    }
    const subscriber = { projectId, address: target.address };
    if (await isUnsubscribed(deps.postgres, subscriber)) {
      return { isDelivered: false, isFinal: true, reason: 'the receiver has unsubscribed' };
    }
    const refusal = await deps.takeMail(subscriber);
    if (refusal !== undefined) return { isDelivered: false, isFinal: false, reason: refusal };
    if (!isClaimed()) return undefined;
    const unsubscribeUrl = deps.unsubscribeLinks.toUrl(subscriber);
    await deps.sendMail({ to: target.address, ...toMailContent(delivery, unsubscribeUrl), unsubscribeUrl }, id);
    return { isDelivered: true };
  }
  const secret = await deps.secrets.require(projectId);
  if (secret === undefined) {
    const reason = 'the signing key cannot be decrypted, because SECRET_KEY_BASE has changed; rotate it';
    return { isDelivered: false, isFinal: false, reason };
  }
  if (!isClaimed()) return undefined;
  return callWebhook({ url: target.url, deliveryId: id, body: toHookBody(delivery, id), secret }, deps.webhooks);
}
