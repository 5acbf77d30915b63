// Page for an unknown address (404).
import { texts } from '../texts.js';
import style from './plain-page.module.css';

export function Missing() {
  return (
    <main className={style.page}>
      <h1>{texts.missing.title}</h1>
      <p className="muted">{texts.missing.text}</p>
      <p>
        <a className="button" href="/">
          {texts.missing.back}
        </a>
      </p>
    </main>
  );
}
