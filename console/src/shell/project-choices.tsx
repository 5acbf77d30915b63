// The projects of the switcher, by organization, with a search when they are many. It is loaded
// when the menu opens.
import { Link } from 'wouter';
import type { ScreenName } from '../app.js';
import { type Boot, isAtLeast, type Organization, type Project } from '../boot.js';
import { texts } from '../texts.js';
import { MenuActions, menuItem, menuTitle } from './menu.js';
import { useSearch } from './search-field.js';

interface Props {
  readonly boot: Boot;
  readonly project: Project;
  readonly screen: ScreenName;
  readonly close: () => void;
  readonly create: (organization: Organization) => void;
}

export function ProjectChoices({ boot, project, screen, close, create }: Props) {
  const { found, field } = useSearch(boot.projects, ({ name }) => name, texts.project.search);
  return (
    <>
      {field}
      {boot.organizations.map((organization) => {
        const isOwn = ({ organizationId }: Project): boolean => organizationId === organization.id;
        const projects = found.filter(isOwn);
        const mayCreate = isAtLeast(organization.role, 'admin');
        // Without a match, or without anything to choose.
        if (projects.length === 0 && (!mayCreate || boot.projects.some(isOwn))) return null;
        return (
          <div key={organization.id}>
            <div className={menuTitle}>{organization.name}</div>
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
            {mayCreate && <MenuActions actions={[[texts.project.create, () => create(organization)]]} close={close} />}
          </div>
        );
      })}
    </>
  );
}
