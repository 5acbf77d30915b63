// `npm run placement`: places 10,000 projects of Zipf sizes on 20 shards by the rule of the service
// (src/shards/choose-shard.ts), adds 5 shards, and shows how uneven the shards are, how many
// projects have to move to make them even, and what draining a shard moves. Computes only; the seed
// is fixed, so that two runs agree.
import { markdownTable } from 'markdown-table';
import { chooseShard } from '../src/shards/choose-shard.js';
import { createRandom } from './random.js';

const PROJECTS = 10_000;
const SHARDS = 20;
const ADDED = 5;
const SEED = 17;
/** Sum of the sizes; shares are printed. */
const EVENTS = 1_000_000_000;
/** So many projects are created before the size of one is known; until then it is one event. */
const UNKNOWN_FOR = 200;
/** The fullest shard may have this much of the mean before a project is moved from it. */
const EVEN = 1.1;

interface Project {
  readonly events: number;
  shard: number;
}

/** The project of rank r has a share of 1 / r, in a random order of arrival. */
function createProjects(): Project[] {
  const random = createRandom(SEED);
  const sum = Array.from({ length: PROJECTS }, (_, index) => 1 / (index + 1)).reduce((total, part) => total + part, 0);
  const projects = Array.from({ length: PROJECTS }, (_, index) => ({ events: EVENTS / sum / (index + 1), shard: 0 }));
  for (let last = projects.length - 1; last > 0; last -= 1) {
    const other = Math.floor(random() * (last + 1));
    [projects[last], projects[other]] = [projects[other] as Project, projects[last] as Project];
  }
  return projects;
}

class Cluster {
  readonly loads = new Map<number, number>();
  readonly projects: Project[] = [];

  addShard(): void {
    this.loads.set(this.loads.size + 1, 0);
  }

  place(project: Project, knownEvents: number, except = 0): void {
    const loads = [...this.loads].map(([id, events]) => ({ id, events })).filter(({ id }) => id !== except);
    project.shard = chooseShard(loads) ?? 0;
    this.#add(project.shard, knownEvents);
  }

  /** What a project has sent is known from now on. */
  reveal(project: Project): void {
    this.#add(project.shard, project.events - 1);
  }

  remove(project: Project): void {
    this.#add(project.shard, -project.events);
  }

  /** Load of the fullest shard over the mean, of all shards or of all but one. */
  imbalance(except = 0): number {
    const loads = [...this.loads].filter(([id]) => id !== except).map(([, load]) => load);
    return Math.max(...loads) / (loads.reduce((sum, load) => sum + load, 0) / loads.length);
  }

  #add(shard: number, events: number): void {
    this.loads.set(shard, (this.loads.get(shard) ?? 0) + events);
  }
}

function placeAll(cluster: Cluster, projects: readonly Project[]): void {
  for (const [index, project] of projects.entries()) {
    cluster.place(project, 1);
    cluster.projects.push(project);
    const known = projects[index - UNKNOWN_FOR];
    if (known !== undefined) cluster.reveal(known);
  }
  for (const project of projects.slice(-UNKNOWN_FOR)) cluster.reveal(project);
}

interface Moves {
  readonly moved: number;
  readonly events: number;
}

/**
 * As an operator would, by `npm run shards -- move`: from the fullest shard that is too full to the
 * emptiest one, the smallest project that is enough, or the largest that has room there.
 */
function balance(cluster: Cluster): Moves {
  const mean = EVENTS / cluster.loads.size;
  const moves = { moved: 0, events: 0 };
  const done = new Set<number>();
  for (;;) {
    const full = [...cluster.loads].filter(([id, load]) => load > mean * EVEN && !done.has(id));
    const [from] = full.sort(([, a], [, b]) => b - a);
    if (from === undefined) return moves;
    const to = chooseShard([...cluster.loads].map(([id, events]) => ({ id, events }))) ?? 0;
    const room = mean * EVEN - (cluster.loads.get(to) ?? 0);
    const excess = from[1] - mean;
    const fitting = cluster.projects
      .filter(({ shard, events }) => shard === from[0] && events <= room)
      .sort((a, b) => b.events - a.events);
    const chosen = fitting.findLast(({ events }) => events >= excess) ?? fitting[0];
    if (chosen === undefined) {
      done.add(from[0]);
      continue;
    }
    cluster.remove(chosen);
    cluster.place(chosen, chosen.events);
    moves.moved += 1;
    moves.events += chosen.events;
  }
}

/** Every project of the shard goes where the command sends it. */
function drain(cluster: Cluster, shard: number): Moves {
  const moves = { moved: 0, events: 0 };
  for (const project of cluster.projects.filter((each) => each.shard === shard)) {
    cluster.remove(project);
    cluster.place(project, project.events, shard);
    moves.moved += 1;
    moves.events += project.events;
  }
  cluster.loads.delete(shard);
  return moves;
}

const cluster = new Cluster();
const rows: string[][] = [];
const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;
function show(step: string, moves?: Moves): void {
  const moved = moves === undefined ? ['', ''] : [String(moves.moved), percent(moves.events / EVENTS)];
  const others = cluster.imbalance(largest.shard).toFixed(2);
  rows.push([step, String(cluster.loads.size), cluster.imbalance().toFixed(2), others, ...moved]);
}

for (let shard = 0; shard < SHARDS; shard += 1) cluster.addShard();
const projects = createProjects();
const largest = projects.reduce((most, project) => (project.events > most.events ? project : most));
placeAll(cluster, projects);
show(`${PROJECTS.toLocaleString('en-US')} projects were placed`);
show('made even', balance(cluster));
for (let shard = 0; shard < ADDED; shard += 1) cluster.addShard();
show(`${ADDED} shards were added`);
show('made even', balance(cluster));
show('shard 2 was drained', drain(cluster, 2));
show('made even', balance(cluster));

const head = ['after', 'shards', 'fullest / mean', 'without that of the largest project', 'moved', 'events moved'];
process.stdout.write(
  `${markdownTable([head, ...rows])}\n\nThe largest project has ${percent(largest.events / EVENTS)} of all events.\n`,
);
