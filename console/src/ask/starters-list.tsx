// Start of the screen Ask before the first query: a list of example questions in words
// (starters.ts).
import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { demoQuery } from '../api/demo.js';
import { namesQuery } from '../api/names.js';
import { useProjectAnswer } from '../api/use-project-answer.js';
import type { Project } from '../boot.js';
import { starterTexts } from '../texts/starters.js';
import { texts } from '../texts.js';
import { type Starter, startersFor } from './starters.js';
import style from './starters-list.module.css';

interface Props {
  readonly project: Project;
  readonly choose: (q: string) => void;
}

const FIRST_EVENT_POLL_MS = 5000;

/** The catalog has no more names of events: the first that were sent, not the most frequent. */
const CATALOG_EVENTS_MAX = 2000;
const MOST_FREQUENT = '* | last 30d | count by event_type | top 2';

export function Starters({ project, choose }: Props) {
  const { data } = useQuery({
    ...namesQuery(project.id),
    refetchInterval: ({ state }) => state.data?.events.length === 0 && FIRST_EVENT_POLL_MS,
  });
  const isCut = data !== undefined && data.events.length >= CATALOG_EVENTS_MAX;
  const { data: counted } = useProjectAnswer(project, isCut ? MOST_FREQUENT : undefined);
  const [event, next] = isCut
    ? (counted?.rows ?? []).map(({ event_type: name }) => String(name))
    : (data?.events ?? []).map(({ name }) => name);
  return (
    <>
      {data?.events.length === 0 && (
        <p>
          {starterTexts.noEvents} <Link href={`/projects/${project.id}/start`}>{texts.nav.start}</Link>
        </p>
      )}
      {project.isDemo && <DemoQuestions project={project} choose={choose} />}
      <List id="starters" title={starterTexts.title} starters={startersFor(event, next)} choose={choose} />
    </>
  );
}

function DemoQuestions({ project, choose }: Props) {
  const { data } = useQuery(demoQuery(project));
  const starters = data?.questions.map(({ question, q }) => ({ words: question, q })) ?? [];
  if (starters.length === 0) return null;
  return <List id="demo" title={starterTexts.demo} starters={starters} choose={choose} />;
}

interface ListProps extends Pick<Props, 'choose'> {
  readonly id: string;
  readonly title: string;
  readonly starters: readonly Starter[];
}

function List({ id, title, starters, choose }: ListProps) {
  return (
    <section aria-labelledby={id}>
      <h2 id={id} className={style.title}>
        {title}
      </h2>
      <ul className={style.list}>
        {starters.map(({ words, q }) => (
          <li key={q}>
            <button type="button" className={style.starter} onClick={() => choose(q)}>
              <span>{words}</span>
              <code>{q}</code>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
