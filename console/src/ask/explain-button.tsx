// Opens the plan of the question, which is loaded then.
import { lazy, useState } from 'react';
import { Icon } from '../shell/icon.js';
import { LazyDialog } from '../shell/lazy-dialog.js';
import { texts } from '../texts.js';
import style from './history-menu.module.css';

const ExplainDialog = lazy(async () => ({ default: (await import('./explain-dialog.js')).ExplainDialog }));

interface Props {
  readonly projectId: string;
  readonly q: string;
  readonly timezone: string;
}

export function ExplainButton({ projectId, q, timezone }: Props) {
  const [isOpen, setOpen] = useState(false);
  const close = (): void => setOpen(false);
  return (
    <>
      <button type="button" className="button plain" aria-label={texts.ask.explain} onClick={() => setOpen(true)}>
        <Icon name="explain" size={16} />
        <span className={style.label}>{texts.ask.explain}</span>
      </button>
      {isOpen && (
        <LazyDialog close={close}>
          <ExplainDialog projectId={projectId} q={q} timezone={timezone} close={close} />
        </LazyDialog>
      )}
    </>
  );
}
