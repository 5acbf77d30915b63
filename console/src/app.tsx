// Router of the console: maps /projects/{id}/{screen} to a screen, and redirects `/` to the project
// that was open last.
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useEffect } from 'react';
import { Redirect, Route, Switch } from 'wouter';
import { hasEventsQuery } from './api/event-count.js';
import type { Boot, Project } from './boot.js';
import { Boundary } from './shell/boundary.js';
import { Missing } from './shell/missing.js';
import { NoProject } from './shell/no-project.js';
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

export function App({ boot }: { readonly boot: Boot }) {
  const last = boot.projects.find(({ id }) => id === recall('project', '')) ?? newestOf(boot.projects);
  if (last === undefined) return <NoProject boot={boot} />;
  return (
    <Switch>
      <Route path="/">
        <Home project={last} />
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
const newestOf = (projects: readonly Project[]): Project | undefined =>
  [...projects].sort((a, b) => Number(a.isDemo) - Number(b.isDemo) || (a.id < b.id ? 1 : -1))[0];

/**
 * Ask; for a person who has not been here and whose project has no events, the screen that sends
 * the first.
 */
function Home({ project }: { readonly project: Project }) {
  const isNew = recall('project', '') !== project.id;
  const { data: hasEvents, isError } = useQuery({ ...hasEventsQuery(project.id), enabled: isNew });
  if (isNew && hasEvents === undefined && !isError) return null;
  return <Redirect to={`/projects/${project.id}/${isNew && hasEvents === false ? 'start' : 'ask'}`} replace />;
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
  useEffect(() => {
    document.title = `${texts.nav[name]} · ${project.name}`;
  }, [name, project.name]);
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
