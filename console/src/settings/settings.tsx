// Settings of a project and its organization, by part: /settings/tokens. A person sees the parts
// that their role may use.
import { type ComponentType, useEffect } from 'react';
import { Link } from 'wouter';
import { type Boot, isAtLeast, type Project } from '../boot.js';
import { showLink } from '../shell/show-link.js';
import { settingsTexts } from '../texts/settings.js';
import { texts } from '../texts.js';
import { Agents } from './agents.js';
import { Audit } from './audit.js';
import { DeliveryPart } from './delivery.js';
import { Domains } from './domains.js';
import { Import } from './import.js';
import { Leaving } from './leaving.js';
import { Members } from './members.js';
import { ProjectSettings } from './project.js';
import style from './settings.module.css';
import { Tokens } from './tokens.js';
import { Usage } from './usage.js';

interface Part {
  readonly name: keyof typeof settingsTexts.parts;
  readonly least: Project['role'];
  readonly Content: ComponentType<{ readonly project: Project; readonly publicUrl: string }>;
}

const PARTS: readonly Part[] = [
  { name: 'project', least: 'member', Content: ProjectSettings },
  { name: 'tokens', least: 'member', Content: Tokens },
  { name: 'agents', least: 'member', Content: Agents },
  { name: 'import', least: 'admin', Content: Import },
  { name: 'members', least: 'owner', Content: Members },
  { name: 'domains', least: 'owner', Content: Domains },
  { name: 'usage', least: 'member', Content: Usage },
  { name: 'audit', least: 'admin', Content: Audit },
  { name: 'delivery', least: 'owner', Content: DeliveryPart },
  { name: 'leaving', least: 'member', Content: Leaving },
];

interface Props {
  readonly project: Project;
  readonly boot: Boot;
  readonly item?: string;
}

export function Settings({ project, boot, item = 'project' }: Props) {
  const parts = PARTS.filter(({ least }) => isAtLeast(project.role, least));
  const part = parts.find(({ name }) => name === item);
  const title = part && settingsTexts.parts[part.name];
  useEffect(() => {
    if (title !== undefined) document.title = `${title} · ${texts.nav.settings} · ${project.name}`;
  }, [title, project.name]);
  return (
    <div className={style.settings}>
      <nav className={style.nav} aria-label={texts.nav.settings}>
        {parts.map(({ name }) => (
          <Link
            key={name}
            href={`/projects/${project.id}/settings/${name}`}
            className={style.link}
            aria-current={name === item ? 'page' : undefined}
            ref={name === item ? showLink : undefined}
          >
            {settingsTexts.parts[name]}
          </Link>
        ))}
      </nav>
      <div className={style.part}>
        {part === undefined ? (
          <p role="status">{settingsTexts.notYours}</p>
        ) : (
          <>
            <h1>{title}</h1>
            <part.Content project={project} publicUrl={boot.publicUrl} />
          </>
        )}
      </div>
    </div>
  );
}
