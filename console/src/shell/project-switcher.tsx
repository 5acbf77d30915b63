// Project switcher: shows the current project and lists the others. Admins and owners make new
// ones.
import { lazy, useState } from 'react';
import { Link } from 'wouter';
import type { ScreenName } from '../app.js';
import { type Boot, isAtLeast, type Organization, type Project } from '../boot.js';
import { texts } from '../texts.js';
import { Icon } from './icon.js';
import { LazyDialog } from './lazy-dialog.js';
import { Menu, MenuActions, menuItem, menuTitle } from './menu.js';
import style from './project-switcher.module.css';

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
        {(close) =>
          boot.organizations.map((organization) => {
            const { id, name, role } = organization;
            const projects = boot.projects.filter(({ organizationId }) => organizationId === id);
            const mayCreate = isAtLeast(role, 'admin');
            if (projects.length === 0 && !mayCreate) return null;
            return (
              <div key={id}>
                <div className={menuTitle}>{name}</div>
                {projects.map((each) => (
                  <Link
                    key={each.id}
                    href={`/projects/${each.id}/${screen}`}
                    className={menuItem}
                    aria-current={each.id === project.id ? 'true' : undefined}
                    onClick={close}
                  >
                    {each.name}
                  </Link>
                ))}
                {mayCreate && (
                  <MenuActions actions={[[texts.project.create, () => setMakingIn(organization)]]} close={close} />
                )}
              </div>
            );
          })
        }
      </Menu>
      {makingIn !== undefined && (
        <LazyDialog close={closeNew}>
          <NewProject organization={makingIn} close={closeNew} />
        </LazyDialog>
      )}
    </>
  );
}
