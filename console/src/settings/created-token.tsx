// A token that has just been created, which is shown this once, and a button that copies it.
import { CopyButton } from '../start/copy-button.js';
import { settingsTexts } from '../texts/settings.js';
import style from './settings.module.css';

export function CreatedToken({ token }: { readonly token: string | undefined }) {
  if (token === undefined) return null;
  return (
    <div role="status" className={style.created}>
      <p>{settingsTexts.shownOnce}</p>
      <code>{token}</code>
      <CopyButton name={settingsTexts.token} text={token} />
    </div>
  );
}
