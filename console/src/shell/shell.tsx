// Frame of every screen: project, navigation, account, palette and keyboard.
import { lazy, type ReactNode, useState } from 'react';
import { Link } from 'wouter';
import type { ScreenName } from '../app.js';
import type { Boot, Project } from '../boot.js';
import { texts } from '../texts.js';
import { AccountMenu } from './account-menu.js';
import { Icon, type IconName, Mark } from './icon.js';
import { LazyDialog } from './lazy-dialog.js';
import { Palette } from './palette.js';
import { ProjectSwitcher } from './project-switcher.js';
import style from './shell.module.css';
import { showLink } from './show-link.js';
import { useShortcuts } from './use-shortcuts.js';

const ShortcutsHelp = lazy(async () => ({ default: (await import('./shortcuts-help.js')).ShortcutsHelp }));

/** Screens in the navigation; the letter opens one after `g`. */
export const NAVIGATION: readonly { readonly name: ScreenName; readonly letter: string; readonly icon: IconName }[] = [
  { name: 'ask', letter: 'a', icon: 'ask' },
  { name: 'dashboards', letter: 'd', icon: 'dashboards' },
  { name: 'alerts', letter: 'r', icon: 'alert' },
  { name: 'live', letter: 'l', icon: 'live' },
  { name: 'people', letter: 'p', icon: 'person' },
  { name: 'experiments', letter: 'e', icon: 'experiments' },
  { name: 'data', letter: 'f', icon: 'data' },
  { name: 'definitions', letter: 'n', icon: 'definitions' },
  { name: 'start', letter: 's', icon: 'start' },
  { name: 'settings', letter: 't', icon: 'settings' },
];

interface ShellProps {
  readonly boot: Boot;
  readonly project: Project;
  readonly screen: ScreenName;
  readonly children: ReactNode;
}

type Dialog = 'palette' | 'help' | undefined;

export function Shell({ boot, project, screen, children }: ShellProps) {
  const [dialog, setDialog] = useState<Dialog>();
  const close = (): void => setDialog(undefined);
  useShortcuts(project, setDialog);
  return (
    <div className={style.shell}>
      <button type="button" className={style.skip} onClick={() => document.getElementById('main')?.focus()}>
        {texts.skip}
      </button>
      <header className={style.bar}>
        <Link href={`/projects/${project.id}/ask`} className={style.brand} aria-label={texts.product}>
          <Mark />
        </Link>
        <ProjectSwitcher boot={boot} project={project} screen={screen} />
        <nav className={style.nav} aria-label={texts.nav.label}>
          {NAVIGATION.map(({ name, icon }) => (
            <Link
              key={name}
              href={`/projects/${project.id}/${name}`}
              className={style.link}
              aria-current={name === screen ? 'page' : undefined}
              ref={name === screen ? showLink : undefined}
            >
              <Icon name={icon} size={16} />
              {texts.nav[name]}
            </Link>
          ))}
        </nav>
        <div className={style.end}>
          <button type="button" className={`button plain ${style.search}`} onClick={() => setDialog('palette')}>
            <Icon name="search" size={16} />
            <span className={style.searchText}>{texts.goTo}</span>
            <kbd aria-hidden="true">Ctrl K</kbd>
          </button>
          <AccountMenu person={boot.person} showHelp={() => setDialog('help')} />
        </div>
      </header>
      <main id="main" className={style.main} tabIndex={-1}>
        {children}
      </main>
      {dialog === 'palette' && <Palette boot={boot} project={project} close={close} />}
      {dialog === 'help' && (
        <LazyDialog close={close}>
          <ShortcutsHelp close={close} />
        </LazyDialog>
      )}
    </div>
  );
}
