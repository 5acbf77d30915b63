// Share menu of Ask: copies a link, a curl command, a YAML card, Markdown or a prompt. It downloads
// CSV. What it does is loaded when it opens.
import { lazy, Suspense, useEffect, useState } from 'react';
import type { Answer } from '../api/answer.js';
import { RequestFailed } from '../api/request.js';
import { Icon } from '../shell/icon.js';
import { Menu } from '../shell/menu.js';
import { texts } from '../texts.js';
import style from './history-menu.module.css';
import type { Asked } from './permalink.js';

const Actions = lazy(async () => ({ default: (await import('./share-actions.js')).ShareActions }));

interface Props {
  readonly asked: Asked;
  readonly timezone: string;
  readonly readRows: (rows: number) => Promise<Answer>;
}

export function ShareMenu(props: Props) {
  const [note, setNote] = useState('');
  // biome-ignore lint/correctness/useExhaustiveDependencies: of another question, nothing was copied
  useEffect(() => setNote(''), [props.asked.q]);
  const attempt = async (act: () => Promise<string>): Promise<void> => {
    setNote('');
    try {
      setNote(await act());
    } catch (error) {
      setNote(error instanceof RequestFailed ? error.message : texts.ask.copyFailed);
    }
  };
  const label = (
    <>
      <Icon name="share" size={16} />
      <span className={style.label}>{texts.ask.copy}</span>
    </>
  );
  return (
    <>
      <span role="status" className="muted">
        {note}
      </span>
      <Menu label={label} name={texts.ask.copy} side="right">
        {(close) => (
          <Suspense fallback={null}>
            <Actions {...props} attempt={attempt} close={close} />
          </Suspense>
        )}
      </Menu>
    </>
  );
}
