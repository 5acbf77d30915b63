// Head of the lists of alerts and of reports: the links between them, and the buttons of the page.
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { Project } from '../boot.js';
import screen from '../shell/screen.module.css';
import { alertTexts as words } from '../texts/alerts.js';
import { texts } from '../texts.js';
import style from './alerts.module.css';

interface Props {
  readonly project: Project;
  readonly part: 'alerts' | 'reports';
  readonly note?: string | false;
  /** Buttons. The links stand at the edge, so that they keep their place without these. */
  readonly children?: ReactNode;
}

export function Head({ project, part, note = false, children }: Props) {
  const path = `/projects/${project.id}/alerts`;
  return (
    <>
      <header className={screen.head}>
        <h1>{part === 'alerts' ? texts.nav.alerts : words.reports.title}</h1>
        <div className={`${screen.tools} ${style.tools}`}>
          {children}
          <nav className={screen.parts} aria-label={words.parts}>
            <Link href={path} aria-current={part === 'alerts' ? 'page' : undefined}>
              {texts.nav.alerts}
            </Link>
            <Link href={`${path}/reports`} aria-current={part === 'reports' ? 'page' : undefined}>
              {words.reports.title}
            </Link>
          </nav>
        </div>
      </header>
      {note && <p className="muted">{note}</p>}
    </>
  );
}
