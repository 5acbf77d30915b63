// Definitions of the project: the list, the text, or the versions.
import { useQuery } from '@tanstack/react-query';
import { Pending } from '../answer/pending.js';
import { useFragment } from '../ask/permalink.js';
import { isAtLeast, type Project } from '../boot.js';
import { hasKeptText } from '../dashboards/kept-text.js';
import screen from '../shell/screen.module.css';
import { texts } from '../texts.js';
import { parseAddress } from './address.js';
import { definitionsQuery } from './api.js';
import { Editor, nameOfText } from './editor.js';
import { List } from './list.js';
import { Versions } from './versions.js';

export function Definitions({ project }: { readonly project: Project }) {
  const { view, line } = parseAddress(useFragment());
  const request = useQuery(definitionsQuery(project.id));
  const { data } = request;
  if (data === undefined) {
    return (
      <div className={screen.page}>
        <h1>{texts.nav.definitions}</h1>
        <Pending of={request} />
      </div>
    );
  }
  // Text from before the person lost the right is not hidden.
  const mayEdit = isAtLeast(project.role, 'admin') || hasKeptText(nameOfText(project));
  if (view === 'edit' && mayEdit) return <Editor key={data.version} project={project} definitions={data} line={line} />;
  if (view === 'versions') return <Versions project={project} definitions={data} />;
  return <List project={project} definitions={data} isRefused={view === 'edit'} />;
}
