// Command palette (Ctrl+K): one field that finds screens, projects, dashboards and earlier queries.
import { useQuery } from '@tanstack/react-query';
import { type KeyboardEvent, useId, useMemo, useState } from 'react';
import { navigate } from 'wouter/use-browser-location';
import { type DashboardItem, listQuery } from '../api/dashboard-list.js';
import { recallHistory } from '../ask/history.js';
import { toFragment } from '../ask/permalink.js';
import type { Boot, Project } from '../boot.js';
import { partsOf } from '../settings/parts.js';
import { alertTexts } from '../texts/alerts.js';
import { paletteTexts } from '../texts/palette.js';
import { settingsTexts } from '../texts/settings.js';
import { texts } from '../texts.js';
import { Dialog } from './dialog.js';
import { hasWords } from './has-words.js';
import style from './palette.module.css';
import { NAVIGATION } from './shell.js';

interface Target {
  readonly kind: 'screen' | 'project' | 'dashboard' | 'query';
  readonly label: string;
  readonly href: string;
}

const SHOWN_MAX = 12;

function targetsOf(boot: Boot, project: Project, listed: readonly DashboardItem[] = []): Target[] {
  const base = `/projects/${project.id}`;
  const screens = NAVIGATION.map(
    ({ name }): Target => ({ kind: 'screen', label: texts.nav[name], href: `${base}/${name}` }),
  );
  const projects = boot.projects
    .filter(({ id }) => id !== project.id)
    .map((each): Target => ({ kind: 'project', label: each.name, href: `/projects/${each.id}/ask` }));
  const dashboards = listed.map(
    ({ id, title }): Target => ({ kind: 'dashboard', label: title, href: `${base}/dashboards/${id}` }),
  );
  const queries = recallHistory(project.id).map(
    ({ q, tz }): Target => ({ kind: 'query', label: q, href: `${base}/ask${toFragment({ q, tz })}` }),
  );
  const parts = partsOf(project).map((part): Target => {
    const label = paletteTexts.partOf(texts.nav.settings, settingsTexts.parts[part]);
    return { kind: 'screen', label, href: `${base}/settings/${part}` };
  });
  const reports: Target = { kind: 'screen', label: alertTexts.reports.title, href: `${base}/alerts/reports` };
  return [...screens, ...projects, ...dashboards, ...queries, reports, ...parts];
}

export function Palette({ boot, project, close }: { boot: Boot; project: Project; close: () => void }) {
  const [words, setWords] = useState('');
  const [active, setActive] = useState(0);
  const id = useId();
  const { data, error, isLoading } = useQuery(listQuery(project.id));
  const all = useMemo(() => targetsOf(boot, project, data), [boot, project, data]);
  const matching = all.filter(({ label }) => hasWords(label, words));
  const found = matching.slice(0, SHOWN_MAX);

  const open = (target: Target | undefined): void => {
    if (target === undefined) return;
    close();
    navigate(target.href);
    window.dispatchEvent(new HashChangeEvent('hashchange'));
  };
  const press = (event: KeyboardEvent): void => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (step !== 0 && found.length > 0) {
      event.preventDefault();
      setActive((active + step + found.length) % found.length);
    } else if (event.key === 'Enter') {
      event.preventDefault();
      open(found[active]);
    }
  };

  return (
    <Dialog name={texts.goTo} close={close}>
      <input
        className={style.input}
        autoFocus
        role="combobox"
        aria-label={texts.goTo}
        aria-expanded="true"
        aria-controls={id}
        aria-activedescendant={found.length > 0 ? `${id}-${active}` : undefined}
        placeholder={paletteTexts.placeholder}
        value={words}
        onKeyDown={press}
        onChange={(event) => {
          setWords(event.target.value);
          setActive(0);
        }}
      />
      <div role="listbox" id={id} aria-label={texts.goTo} className={style.list}>
        {found.map((target, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents lint/a11y/useFocusableInteractive: keys go to the field
          <div
            key={target.href}
            id={`${id}-${index}`}
            role="option"
            aria-selected={index === active}
            className={style.option}
            onClick={() => open(target)}
            onPointerMove={() => setActive(index)}
          >
            <span className={target.kind === 'query' ? style.query : style.label}>{target.label}</span>
            <span className={style.kind}>{paletteTexts.kinds[target.kind]}</span>
          </div>
        ))}
      </div>
      {matching.length !== found.length && (
        <p role="status" className={style.empty}>
          {paletteTexts.first(SHOWN_MAX, matching.length)}
        </p>
      )}
      {found.length === 0 && (
        <p role="status" className={style.empty}>
          {isLoading ? texts.loading : (error?.message ?? texts.noneFound)}
        </p>
      )}
    </Dialog>
  );
}
