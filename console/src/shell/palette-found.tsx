// What the command palette finds (palette.tsx): screens, projects, dashboards and earlier queries.
import { useQuery } from '@tanstack/react-query';
import { useLayoutEffect, useMemo, useState } from 'react';
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
import { hasWords } from './has-words.js';
import type { FoundProps } from './palette.js';
import style from './palette-found.module.css';
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

export function Found({ boot, project, id, words, close, setOption, keys }: FoundProps) {
  const [chosen, setChosen] = useState({ index: 0, words });
  // Other words begin at the top.
  const active = chosen.words === words ? chosen.index : 0;
  const setActive = (index: number): void => setChosen({ index, words });
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
  useLayoutEffect(() => setOption(found.length > 0 ? active : undefined), [setOption, found.length, active]);
  useLayoutEffect(() => {
    keys.current = (event) => {
      const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
      if (step !== 0 && found.length > 0) {
        event.preventDefault();
        setActive((active + step + found.length) % found.length);
      } else if (event.key === 'Enter') {
        event.preventDefault();
        open(found[active]);
      }
    };
  });

  return (
    <>
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
    </>
  );
}
