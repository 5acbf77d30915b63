// Events, cohorts and metrics of the project: their text, what they mean, and what uses them.
import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import type { Definition } from '../../../src/query/definitions/definitions.js';
import { toFragment } from '../ask/permalink.js';
import { isAtLeast, type Project } from '../boot.js';
import dashboards from '../dashboards/dashboards.module.css';
import { Icon } from '../shell/icon.js';
import screen from '../shell/screen.module.css';
import { useSearch } from '../shell/search-field.js';
import { CopyLabel } from '../start/copy-label.js';
import { Snippet } from '../start/snippet.js';
import { useCopy } from '../start/use-copy.js';
import { dashboardsTexts } from '../texts/dashboards.js';
import { definitionTexts as words } from '../texts/definitions.js';
import { texts } from '../texts.js';
import { setAddress, toAddress } from './address.js';
import { type Definitions, type Use, usesQuery } from './api.js';
import style from './definitions.module.css';
import { DroppedEvents } from './dropped.js';
import { KeptEvents } from './kept.js';
import { EXAMPLE, questionOf } from './question.js';

interface Props {
  readonly project: Project;
  readonly definitions: Definitions;
  /** Whether the person followed a link to the editor, which they may not use. */
  readonly isRefused: boolean;
}

const SECTIONS = { event: 'events', cohort: 'cohorts', metric: 'metrics' } as const;
const KINDS = ['event', 'cohort', 'metric'] as const;

export function List({ project, definitions, isRefused }: Props) {
  const { version, is_synced: isSynced } = definitions;
  const uses = useQuery({ ...usesQuery(project.id), enabled: version > 0 });
  const mayEdit = isAtLeast(project.role, 'admin');
  const all = KINDS.flatMap((kind) => definitions[SECTIONS[kind]].map((each) => ({ kind, ...each })));
  const { found, field } = useSearch(all, ({ name }) => name, words.search);
  const shown = KINDS.filter((kind) => found.some((each) => each.kind === kind));
  return (
    <div className={screen.page}>
      <header className={screen.head}>
        <div>
          <h1>{texts.nav.definitions}</h1>
          {version > 0 && (
            <p className={dashboards.facts}>
              <span>{dashboardsTexts.version(version)}</span>
              {isSynced && <span className={dashboards.badge}>{dashboardsTexts.synced}</span>}
            </p>
          )}
        </div>
        {version > 0 && <Tools definitions={definitions} mayEdit={mayEdit} />}
      </header>
      {isRefused && (
        <p role="status" className={dashboards.note}>
          {words.refused}
        </p>
      )}
      {isSynced && <p className="muted">{words.syncedNote}</p>}
      {uses.error && (
        <p role="alert" className={dashboards.problem}>
          {words.usesFailed(uses.error.message)}
        </p>
      )}
      {all.length === 0 && <Empty mayEdit={mayEdit} isSynced={isSynced} />}
      {field}
      {shown.map((kind) => (
        <section key={kind} className={screen.section} aria-labelledby={kind}>
          <h2 id={kind}>{words.kinds[kind]}</h2>
          <ul className={`card ${screen.items}`} aria-labelledby={kind}>
            {found
              .filter((each) => each.kind === kind)
              .map((definition) => (
                <Item
                  key={definition.name}
                  project={project}
                  definition={definition}
                  uses={uses.data?.filter((use) => use.kind === kind && use.name === definition.name)}
                  isReadingUses={uses.isLoading}
                  mayEdit={mayEdit && !isSynced}
                />
              ))}
          </ul>
        </section>
      ))}
      {version > 0 && <DroppedEvents project={project} mayEdit={mayEdit && !isSynced} />}
      {version > 0 && <KeptEvents project={project} />}
    </div>
  );
}

function Tools({ definitions, mayEdit }: { readonly definitions: Definitions; readonly mayEdit: boolean }) {
  const [note, copy] = useCopy(definitions.source_yaml);
  return (
    <div className={screen.tools}>
      <button type="button" className="button" onClick={() => void copy()}>
        <CopyLabel label={dashboardsTexts.copyText} note={note} />
      </button>
      <button type="button" className="button" onClick={() => setAddress({ view: 'versions' })}>
        {dashboardsTexts.versions}
      </button>
      {mayEdit && (
        <button type="button" className="button" onClick={() => setAddress({ view: 'edit' })}>
          <Icon name="edit" size={16} />
          {definitions.is_synced ? words.editHere : dashboardsTexts.edit}
        </button>
      )}
    </div>
  );
}

function Empty({ mayEdit, isSynced }: { readonly mayEdit: boolean; readonly isSynced: boolean }) {
  return (
    <section className={`card ${screen.empty}`}>
      <h2>{words.none}</h2>
      <p className="muted">{words.noneNote}</p>
      <Snippet name={words.example} text={EXAMPLE} />
      {isSynced ? null : mayEdit ? (
        <p>
          <button type="button" className="button primary" onClick={() => setAddress({ view: 'edit' })}>
            {words.first}
          </button>
        </p>
      ) : (
        <p className="muted">{words.memberNote}</p>
      )}
    </section>
  );
}

interface ItemProps {
  readonly project: Project;
  readonly definition: Definition;
  /** Undefined until they are read, and when that failed. */
  readonly uses: readonly Use[] | undefined;
  readonly isReadingUses: boolean;
  readonly mayEdit: boolean;
}

function Item({ project, definition, uses, isReadingUses, mayEdit }: ItemProps) {
  const { name, query, about, unit, line } = definition;
  return (
    <li>
      <div className={screen.itemHead}>
        <h3>
          <Link
            href={`/projects/${project.id}/ask${toFragment({ q: questionOf(definition) })}`}
            aria-label={words.ask(name)}
          >
            {name}
          </Link>
        </h3>
        {unit !== undefined && <span className={dashboards.badge}>{unit}</span>}
        {mayEdit && (
          <a className={style.line} href={toAddress({ view: 'edit', line })} aria-label={words.editLine(name, line)}>
            {dashboardsTexts.line(line)}
          </a>
        )}
      </div>
      {about !== undefined && <p className="muted">{about}</p>}
      <code className={style.query}>{query}</code>
      {uses !== undefined && <Uses project={project} uses={uses} />}
      {/* In the place of the uses, so that nothing moves under a click when they arrive. */}
      {isReadingUses && <p className={style.unused}>{words.readingUses}</p>}
    </li>
  );
}

function Uses({ project, uses }: { readonly project: Project; readonly uses: readonly Use[] }) {
  if (uses.length === 0) return <p className={style.unused}>{words.unused}</p>;
  return (
    <div className={style.usedIn}>
      <span className="muted">{words.usedIn}</span>
      <ul className={style.uses} aria-label={words.usedIn}>
        {uses.map((use) => (
          <li key={`${use.dashboard?.id} ${use.in} ${use.id}`}>
            <UsedBy project={project} use={use} />
          </li>
        ))}
      </ul>
    </div>
  );
}

function UsedBy({ project, use }: { readonly project: Project; readonly use: Use }) {
  const path = `/projects/${project.id}`;
  const { dashboard, in: place, title } = use;
  if (dashboard !== null) {
    return (
      <Link href={`${path}/dashboards/${dashboard.id}`}>
        {words.inDashboard(words.places[place], title, dashboard.title)}
      </Link>
    );
  }
  if (place === 'alert') return <Link href={`${path}/alerts`}>{words.inDefinitions(words.places.alert, title)}</Link>;
  return words.inDefinition(title);
}
