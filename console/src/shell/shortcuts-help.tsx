// List of all keyboard shortcuts.
import { texts } from '../texts.js';
import { Dialog } from './dialog.js';
import { NAVIGATION } from './shell.js';
import style from './shortcuts-help.module.css';

export function ShortcutsHelp({ close }: { readonly close: () => void }) {
  const screens = NAVIGATION.map(({ name, letter }) => [['g', letter], texts.shortcuts.open(texts.nav[name])] as const);
  return (
    <Dialog name={texts.shortcuts.title} close={close} className={style.help}>
      <h2>{texts.shortcuts.title}</h2>
      <dl className={style.rows}>
        {[...texts.shortcuts.rows, ...screens].map(([keys, meaning]) => (
          <div key={meaning}>
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
      <p className="muted">{texts.shortcuts.note}</p>
      <form method="dialog">
        <button className="button" type="submit">
          {texts.shortcuts.close}
        </button>
      </form>
    </Dialog>
  );
}
