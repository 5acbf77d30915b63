// The field of the targets of a new alert or report, which says when mails cannot be sent.
import { alertTexts } from '../texts/alerts.js';
import style from './alerts.module.css';
import { toTargets } from './document.js';
import { noMailFor } from './no-mail.js';

interface Props {
  /** As typed. */
  readonly value: string;
  readonly onChange: (typed: string) => void;
  readonly note: string;
}

export const TargetsField = ({ value, onChange, note }: Props) => (
  <>
    <label>
      {alertTexts.to}
      <textarea
        className={`field ${style.targets}`}
        name="to"
        required
        placeholder={alertTexts.form.toExample}
        rows={2}
        value={value}
        onChange={({ target }) => onChange(target.value)}
      />
      <span className={style.hint}>{note}</span>
    </label>
    <p role="status" className={style.error}>
      {noMailFor(toTargets(value).join())}
    </p>
  </>
);
