// A dialog for what cannot be undone: its button works when the name has been typed.
import { type FormEvent, type ReactNode, useState } from 'react';
import { Dialog } from '../shell/dialog.js';
import { settingsTexts } from '../texts/settings.js';
import { texts } from '../texts.js';
import style from './settings.module.css';

interface Props {
  readonly title: string;
  /** What is to be typed. */
  readonly name: string;
  readonly label: string;
  readonly confirm: string;
  readonly isBusy: boolean;
  readonly act: () => Promise<void>;
  readonly close: () => void;
  readonly children: ReactNode;
}

export function TypedConfirmation({ title, name, label, confirm, isBusy, act, close, children }: Props) {
  const [typed, setTyped] = useState('');
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (typed === name) void act();
  };
  return (
    <Dialog name={title} close={close} className={style.dialog}>
      <form className={style.form} onSubmit={submit}>
        <h2>{title}</h2>
        {children}
        <label>
          {label}
          <code className={style.name}>{name}</code>
          <input
            className="field"
            value={typed}
            autoComplete="off"
            spellCheck={false}
            onChange={({ target }) => setTyped(target.value)}
          />
        </label>
        <div className={style.buttons}>
          <span role="status" className="muted">
            {isBusy ? texts.inProgress : ''}
          </span>
          <button type="button" className="button" onClick={close}>
            {settingsTexts.cancel}
          </button>
          <button type="submit" className="button danger" disabled={typed !== name || isBusy}>
            {confirm}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
