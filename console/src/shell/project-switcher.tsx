// Project switcher: shows the current project and lists the others. Admins and owners make new
// ones.
import { lazy, Suspense, useState } from 'react';
import type { ScreenName } from '../app.js';
import type { Boot, Organization, Project } from '../boot.js';
import { texts } from '../texts.js';
import { Icon } from './icon.js';
import { LazyDialog } from './lazy-dialog.js';
import { Menu } from './menu.js';
import style from './project-switcher.module.css';

const Choices = lazy(async () => ({ default: (await import('./project-choices.js')).ProjectChoices }));
const NewProject = lazy(async () => ({ default: (await import('./new-project.js')).NewProject }));

interface Props {
  readonly boot: Boot;
  readonly project: Project;
  readonly screen: ScreenName;
}

export function ProjectSwitcher({ boot, project, screen }: Props) {
  const [makingIn, setMakingIn] = useState<Organization>();
  const closeNew = (): void => setMakingIn(undefined);
  const label = (
    <>
      <span className={style.name}>{project.name}</span>
      <Icon name="down" size={16} />
    </>
  );
  return (
    <>
      <Menu label={label} name={`${texts.project.label}: ${project.name}`} className={`button plain ${style.button}`}>
        {(close) => (
          <Suspense fallback={null}>
            <Choices {...{ boot, project, screen, close }} create={setMakingIn} />
          </Suspense>
        )}
      </Menu>
      {makingIn !== undefined && (
        <LazyDialog close={closeNew}>
          <NewProject organization={makingIn} close={closeNew} />
        </LazyDialog>
      )}
    </>
  );
}
