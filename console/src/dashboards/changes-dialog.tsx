// The changes of a text by lines, before they are stored.
import { useState } from 'react';
import { diffLines, hunksOf } from '../../../src/dashboards/diff-lines.js';
import { noMailFor } from '../alerts/no-mail.js';
import { Dialog } from '../shell/dialog.js';
import { dashboardsTexts } from '../texts/dashboards.js';
import style from './dashboards.module.css';

interface Props {
  readonly before: string;
  readonly after: string;
  /** Remarks about what is valid, and may be a mistake. */
  readonly warnings?: readonly string[];
  readonly confirm: string;
  readonly act: () => Promise<void>;
  readonly close: () => void;
}

const SIGNS = { same: ' ', added: '+', removed: '−' } as const;

export function ChangesDialog({ before, after, warnings: found = [], confirm, act, close }: Props) {
  const [isBusy, setBusy] = useState(false);
  const lines = diffLines(before, after);
  const added = lines.flatMap(({ kind, text }) => (kind === 'added' ? [text] : [])).join('\n');
  const warnings = [...found, noMailFor(added)].filter((warning) => warning !== undefined);
  const count = (kind: string): number => lines.filter((line) => line.kind === kind).length;
  return (
    <Dialog name={dashboardsTexts.changes} close={close} className={style.changes}>
      <h2>{dashboardsTexts.changes}</h2>
      <p className="muted">{dashboardsTexts.changedLines(count('added'), count('removed'))}</p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
      <section className={style.diff} tabIndex={0} aria-label={dashboardsTexts.lines}>
        {hunksOf(lines).map((line, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: lines keep their places
          <div key={index} className={style[line?.kind ?? 'gap']}>
            {line === undefined ? '⋯' : `${SIGNS[line.kind]} ${line.text}`}
          </div>
        ))}
      </section>
      {warnings.length > 0 && (
        <ul className={style.warnings} aria-label={dashboardsTexts.warnings}>
          {warnings.map((warning) => (
            <li key={warning}>{warning}</li>
          ))}
        </ul>
      )}
      <div className={style.tools}>
        <button type="button" className="button" onClick={close}>
          {dashboardsTexts.cancel}
        </button>
        <button
          type="button"
          className="button primary"
          disabled={isBusy}
          onClick={() => {
            setBusy(true);
            void act().finally(() => setBusy(false));
          }}
        >
          {confirm}
        </button>
      </div>
    </Dialog>
  );
}
