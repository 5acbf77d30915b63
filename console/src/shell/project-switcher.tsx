// Project switcher: shows the current project and lists the others.
import { Link } from 'wouter';
import type { ScreenName } from '../app.js';
import type { Boot, Project } from '../boot.js';
import { texts } from '../texts.js';
import { Icon } from './icon.js';
import { Menu, menuItem, menuTitle } from './menu.js';
import style from './project-switcher.module.css';

interface Props {
  readonly boot: Boot;
  readonly project: Project;
  readonly screen: ScreenName;
}

export function ProjectSwitcher({ boot, project, screen }: Props) {
  const label = (
    <>
      <span className={style.name}>{project.name}</span>
      <Icon name="down" size={16} />
    </>
  );
  return (
    <Menu label={label} name={`${texts.project.label}: ${project.name}`} className={`button plain ${style.button}`}>
      {(close) =>
        boot.organizations.map(({ id, name }) => {
          const projects = boot.projects.filter(({ organizationId }) => organizationId === id);
          if (projects.length === 0) return null;
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
            </div>
          );
        })
      }
    </Menu>
  );
}
