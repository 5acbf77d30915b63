// Messages of a check or a run, with what became of each.
import { instant } from '../answer/format.js';
import { alertTexts as words } from '../texts/alerts.js';
import style from './alerts.module.css';
import type { Delivery } from './api.js';

export function Deliveries({ deliveries, timezone }: { deliveries: readonly Delivery[]; timezone: string }) {
  if (deliveries.length === 0) return null;
  return (
    <ul className={style.deliveries}>
      {deliveries.map((delivery) => (
        <li key={delivery.to}>
          {delivery.to} · {statusOf(delivery, timezone)}
          {delivery.error !== null && <span className={style.error}> {delivery.error}</span>}
        </li>
      ))}
    </ul>
  );
}

function statusOf({ status, attempts, ended_at: endedAt }: Delivery, timezone: string): string {
  const at = endedAt === null ? '' : ` ${instant(endedAt, timezone)}`;
  return `${words.deliveries[status]}${at}${attempts > 1 ? `, ${words.attempts(attempts)}` : ''}`;
}
