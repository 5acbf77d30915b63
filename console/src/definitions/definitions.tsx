// Definitions of the project: the list, the text, or the versions.
import { useQuery } from '@tanstack/react-query';
import { FailedAnswer } from '../answer/failed-answer.js';
import { useFragment } from '../ask/permalink.js';
import type { Project } from '../boot.js';
import { texts } from '../texts.js';
import { parseAddress } from './address.js';
import { definitionsQuery } from './api.js';
import { Editor } from './editor.js';
import { List } from './list.js';
import { Versions } from './versions.js';

export function Definitions({ project }: { readonly project: Project }) {
  const { view, line } = parseAddress(useFragment());
  const { data, error, refetch } = useQuery(definitionsQuery(project.id));
  if (error) return <FailedAnswer failure={error} retry={() => void refetch()} />;
  if (data === undefined) return <p role="status">{texts.loading}</p>;
  if (view === 'edit') return <Editor key={data.version} project={project} definitions={data} line={line} />;
  if (view === 'versions') return <Versions project={project} definitions={data} />;
  return <List project={project} definitions={data} />;
}
