// Router of the console: maps /projects/{id}/{screen} to a screen, and redirects `/` to the project
// that was open last.
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useEffect, useLayoutEffect } from 'react';
import { Redirect, Route, Switch } from 'wouter';
import { newestWithEventsQuery } from './api/event-count.js';
import type { Boot, Project } from './boot.js';
import { Boundary } from './shell/boundary.js';
import { Missing } from './shell/missing.js';
import { Shell } from './shell/shell.js';
import { recall, remember } from './shell/storage.js';
import { texts } from './texts.js';

const SCREENS = {
  alerts: lazy(() => import('./alerts/alerts.js').then(({ Alerts }) => ({ default: Alerts }))),
  ask: lazy(() => import('./ask/ask.js').then(({ Ask }) => ({ default: Ask }))),
  dashboards: lazy(() => import('./dashboards/dashboards.js').then(({ Dashboards }) => ({ default: Dashboards }))),
  data: lazy(() => import('./data/data.js').then(({ Data }) => ({ default: Data }))),
  definitions: lazy(() => import('./definitions/definitions.js').then(({ Definitions }) => ({ default: Definitions }))),
  experiments: lazy(() => import('./experiments/experiments.js').then(({ Experiments }) => ({ default: Experiments }))),
  live: lazy(() => import('./live/live.js').then(({ Live }) => ({ default: Live }))),
  people: lazy(() => import('./people/people.js').then(({ People }) => ({ default: People }))),
  settings: lazy(() => import('./settings/settings.js').then(({ Settings }) => ({ default: Settings }))),
  start: lazy(() => import('./start/start.js').then(({ Start }) => ({ default: Start }))),
} as const;
export type ScreenName = keyof typeof SCREENS;

const NoProject = lazy(async () => ({ default: (await import('./shell/no-project.js')).NoProject }));

export function App({ boot }: { readonly boot: Boot }) {
  const visited = boot.projects.find(({ id }) => id === recall('project', ''));
  const projects = newestFirst(boot.projects);
  const last = visited ?? projects[0];
  if (last === undefined) {
    return (
      <Boundary part="screen" of="no project">
        <Suspense fallback={null}>
          <NoProject boot={boot} />
        </Suspense>
      </Boundary>
    );
  }
  return (
    <Switch>
      <Route path="/">
        <Home visited={visited} projects={projects} />
      </Route>
      <Route path="/start">
        <Redirect to={`/projects/${last.id}/start`} replace />
      </Route>
      <Route path="/projects/:id">{({ id }) => <Redirect to={`/projects/${id}/ask`} replace />}</Route>
      <Route path="/projects/:id/:screen/:item?">
        {({ id, screen, item }) => {
          const project = boot.projects.find((each) => each.id === id);
          if (project === undefined || !(screen in SCREENS)) return <Missing />;
          return <Screen key={project.id} boot={boot} project={project} name={screen as ScreenName} item={item} />;
        }}
      </Route>
      <Route>
        <Missing />
      </Route>
    </Switch>
  );
}

/** Ids begin with the time at which the project was made. The demo is only for want of another. */
const newestFirst = (projects: readonly Project[]): readonly Project[] =>
  [...projects].sort((a, b) => Number(a.isDemo) - Number(b.isDemo) || (a.id < b.id ? 1 : -1));

/**
 * Ask, of the project that was open last. For a person who has not been here, of the newest project
 * with events; where none has any, the screen of the newest that sends the first.
 */
function Home({ visited, projects }: { readonly visited: Project | undefined; readonly projects: readonly Project[] }) {
  const isNew = visited === undefined;
  const { data: busy, isPending } = useQuery({
    ...newestWithEventsQuery(projects.map(({ id }) => id)),
    enabled: isNew,
  });
  if (isNew && isPending) return null;
  const id = visited?.id ?? busy ?? projects[0]?.id;
  return <Redirect to={`/projects/${id}/${isNew && busy === null ? 'start' : 'ask'}`} replace />;
}

interface ScreenProps {
  readonly boot: Boot;
  readonly project: Project;
  readonly name: ScreenName;
  /** A part of the screen: one of the dashboards. */
  readonly item: string | undefined;
}

function Screen({ boot, project, name, item }: ScreenProps) {
  const Content = SCREENS[name];
  // Also when the person comes back to this tab from another one, at another project.
  // biome-ignore lint/correctness/useExhaustiveDependencies: each screen is a visit
  useEffect(() => {
    const visit = (): void => remember('project', project.id);
    visit();
    addEventListener('focus', visit);
    return () => removeEventListener('focus', visit);
  }, [project.id, name, item]);
  // Before the effects of the content, which may name what it shows; again for another part.
  // biome-ignore lint/correctness/useExhaustiveDependencies: each part names itself
  useLayoutEffect(() => {
    document.title = `${texts.nav[name]} · ${project.name}`;
  }, [name, item, project.name]);
  return (
    <Shell boot={boot} project={project} screen={name}>
      <Boundary part="screen" of={`${name} ${item}`}>
        <Suspense fallback={null}>
          <Content project={project} boot={boot} {...(item !== undefined && { item })} />
        </Suspense>
      </Boundary>
    </Shell>
  );
}
