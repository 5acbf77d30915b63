// Who is signed in, the appearance of the console, and the way out.
import { useState } from 'react';
import { texts } from '../texts.js';
import style from './account-menu.module.css';
import { Icon } from './icon.js';
import { Menu, menuItem, menuTitle } from './menu.js';
import { forgetAll, recall, remember } from './storage.js';
import { chooseTheme, currentTheme, THEMES } from './theme.js';

interface Props {
  readonly person: string;
  readonly showHelp: () => void;
}

export function AccountMenu({ person, showHelp }: Props) {
  const [theme, setTheme] = useState(currentTheme);
  const [hasLetters, setLetters] = useState(() => recall('letters', true));
  const name = `${texts.account.label}: ${person}`;
  return (
    <Menu label={<Icon name="person" />} name={name} side="right">
      {(close) => (
        <>
          <div className={style.person}>{person}</div>
          <div className={menuTitle}>{texts.account.theme}</div>
          {THEMES.map((each) => (
            <button
              key={each}
              type="button"
              className={menuItem}
              aria-pressed={each === theme}
              onClick={() => {
                chooseTheme(each);
                setTheme(each);
              }}
            >
              {texts.account.themes[each]}
            </button>
          ))}
          <hr className={style.line} />
          <button
            type="button"
            className={menuItem}
            aria-pressed={hasLetters}
            onClick={() => {
              remember('letters', !hasLetters);
              setLetters(!hasLetters);
            }}
          >
            {texts.account.letters}
          </button>
          <button
            type="button"
            className={menuItem}
            onClick={() => {
              close();
              showHelp();
            }}
          >
            {texts.account.help}
          </button>
          <hr className={style.line} />
          <form method="post" action="/auth/logout" onSubmit={forgetAll}>
            <button type="submit" className={menuItem}>
              {texts.account.signOut}
            </button>
          </form>
        </>
      )}
    </Menu>
  );
}
