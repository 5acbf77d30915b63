// A dialog that asks before something is done that cannot be undone.
import { Dialog } from '../shell/dialog.js';
import { settingsTexts } from '../texts/settings.js';
import { Problem } from './problem.js';
import style from './settings.module.css';

interface Props {
  readonly title: string;
  /** What will happen. */
  readonly note: string;
  readonly confirm: string;
  readonly problem: string | undefined;
  readonly isBusy: boolean;
  readonly act: () => Promise<void>;
  readonly close: () => void;
}

export function ConfirmationDialog({ title, note, confirm, problem, isBusy, act, close }: Props) {
  return (
    <Dialog name={title} close={close} className={style.dialog}>
      <div className={style.form}>
        <h2>{title}</h2>
        <p>{note}</p>
        <Problem text={problem} />
        <div className={style.buttons}>
          <button type="button" className="button" onClick={close}>
            {settingsTexts.cancel}
          </button>
          <button type="button" className="button danger" disabled={isBusy} onClick={() => void act()}>
            {confirm}
          </button>
        </div>
      </div>
    </Dialog>
  );
}
