// List of all keyboard shortcuts.
import { shortcutTexts } from '../texts/shortcuts.js';
import { texts } from '../texts.js';
import { Dialog } from './dialog.js';
import { NAVIGATION } from './shell.js';
import style from './shortcuts-help.module.css';

export function ShortcutsHelp({ close }: { readonly close: () => void }) {
  const screens = NAVIGATION.map(({ name, letter }) => [['g', letter], shortcutTexts.open(texts.nav[name])] as const);
  return (
    <Dialog name={shortcutTexts.title} close={close} className={style.help}>
      <h2>{shortcutTexts.title}</h2>
      <dl className={style.rows}>
        {[...shortcutTexts.rows, ...screens].map(([keys, meaning]) => (
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
      <p className="muted">{shortcutTexts.note}</p>
      <form method="dialog">
        <button className="button" type="submit">
          {texts.close}
        </button>
      </form>
    </Dialog>
  );
}
