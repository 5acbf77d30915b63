// The result of a dry run: the message that would be sent, or why none would.
import { exact } from '../answer/format.js';
import { alertTexts as words } from '../texts/alerts.js';
import style from './alerts.module.css';
import type { Alert, DryRun } from './api.js';

interface Props {
  readonly result: DryRun;
  /** The state before. */
  readonly state: Alert['state'];
}

export function DryRunResult({ result: { outcome, value, error, text }, state }: Props) {
  return (
    <div role="status" className={style.dryRun}>
      <p>
        <strong>{text === null ? words.nothingSent(state) : words.wouldSend}</strong>{' '}
        {outcome === 'failed' ? words.checkFailed : words.holds(outcome === 'firing')}
        {value !== null && ` ${words.valueIs(exact(value))}`}
      </p>
      {error !== null && <p>{error}</p>}
      {text !== null && <pre>{text}</pre>}
    </div>
  );
}
