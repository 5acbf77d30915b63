// Experiments: all of the project, or the results of one. The key is part of the path; what is
// compared stands behind `#`.
import type { Project } from '../boot.js';
import { Experiment } from './experiment.js';
import { List } from './list.js';

interface Props {
  readonly project: Project;
  readonly item?: string;
}

export function Experiments({ project, item }: Props) {
  return item === undefined ? (
    <List project={project} />
  ) : (
    <Experiment key={item} project={project} choice={keyInPath(item)} />
  );
}

/** The router decodes only a part of the signs of a path. */
function keyInPath(item: string): string {
  const written = location.pathname.split('/')[4];
  try {
    return written === undefined ? item : decodeURIComponent(written);
  } catch {
    return item;
  }
}
