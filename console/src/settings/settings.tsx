// Settings of a project and its organization, by part: /settings/tokens. A person sees the parts
// that their role may use.
import { type ComponentType, useEffect } from 'react';
import { Link } from 'wouter';
import type { Boot, Project } from '../boot.js';
import { showLink } from '../shell/show-link.js';
import { settingsTexts } from '../texts/settings.js';
import { texts } from '../texts.js';
import { Agents } from './agents.js';
import { Audit } from './audit.js';
import { DeliveryPart } from './delivery.js';
import { Domains } from './domains.js';
import { Export } from './export.js';
import { Import } from './import.js';
import { Leaving } from './leaving.js';
import { Members } from './members.js';
import { type PartName, partsOf } from './parts.js';
import { ProjectSettings } from './project.js';
import style from './settings.module.css';
import { Tokens } from './tokens.js';
import { Usage } from './usage.js';

type Content = ComponentType<{ readonly project: Project; readonly publicUrl: string }>;

const CONTENTS: Readonly<Record<PartName, Content>> = {
  project: ProjectSettings,
  tokens: Tokens,
  agents: Agents,
  import: Import,
  export: Export,
  members: Members,
  domains: Domains,
  usage: Usage,
  audit: Audit,
  delivery: DeliveryPart,
  leaving: Leaving,
};

interface Props {
  readonly project: Project;
  readonly boot: Boot;
  readonly item?: string;
}

export function Settings({ project, boot, item = 'project' }: Props) {
  const parts = partsOf(project);
  const part = parts.find((name) => name === item);
  const Content = part && CONTENTS[part];
  const title = part && settingsTexts.parts[part];
  useEffect(() => {
    if (title !== undefined) document.title = `${title} · ${texts.nav.settings} · ${project.name}`;
  }, [title, project.name]);
  return (
    <div className={style.settings}>
      <nav className={style.nav} aria-label={texts.nav.settings}>
        {parts.map((name) => (
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
      <div className={style.part} data-part={part}>
        {Content === undefined ? (
          <p role="status">{settingsTexts.notYours}</p>
        ) : (
          <>
            <h1>{title}</h1>
            <Content project={project} publicUrl={boot.publicUrl} />
          </>
        )}
      </div>
    </div>
  );
}
