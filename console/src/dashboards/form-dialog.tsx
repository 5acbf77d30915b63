// Dialog of a form that changes the text of a dashboard: title, problem, and the buttons to apply,
// to remove and to cancel.
import { type FormEvent, type ReactNode, useState } from 'react';
import { Dialog } from '../shell/dialog.js';
import type { KeptFields } from '../shell/kept-fields.js';
import { dashboardsTexts } from '../texts/dashboards.js';
import style from './dashboards.module.css';
import editing from './editing.module.css';
import { Failure } from './source-text.js';

interface Props {
  readonly name: string;
  readonly fields: KeptFields;
  /** Why the change was refused. */
  readonly failure: string | undefined;
  readonly apply: (form: FormData) => Promise<void>;
  readonly canApply?: boolean;
  /** Text of the button that removes what the form is about. */
  readonly removeLabel?: string;
  readonly remove?: (() => Promise<void>) | undefined;
  readonly close: () => void;
  readonly children: ReactNode;
}

export function FormDialog({
  name,
  fields,
  failure,
  apply,
  canApply = true,
  removeLabel,
  remove,
  close,
  children,
}: Props) {
  const [isBusy, setBusy] = useState(false);
  const run = (act: () => Promise<void>): void => {
    setBusy(true);
    void act().finally(() => setBusy(false));
  };
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    run(() => apply(form));
  };
  return (
    <Dialog name={name} close={close} className={`${style.dialog} ${editing.wide}`}>
      <form {...fields.props} className={style.form} onSubmit={submit}>
        <h2>{name}</h2>
        {children}
        <Failure text={failure} />
        <div className={style.tools}>
          {remove !== undefined && (
            <button
              type="button"
              className={`button danger ${editing.first}`}
              disabled={isBusy}
              onClick={() => run(remove)}
            >
              {removeLabel}
            </button>
          )}
          <button type="button" className="button" onClick={close}>
            {dashboardsTexts.cancel}
          </button>
          <button type="submit" className="button primary" disabled={isBusy || !canApply}>
            {dashboardsTexts.form.apply}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
