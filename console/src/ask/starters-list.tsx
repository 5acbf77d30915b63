// The screen before the first query: questions in words.
import { useQuery } from '@tanstack/react-query';
import { QUESTIONS } from '../../../src/demo/stories.js';
import { namesQuery } from '../api/names.js';
import type { Project } from '../boot.js';
import { texts } from '../texts.js';
import { type Starter, startersFor } from './starters.js';
import style from './starters-list.module.css';

interface Props {
  readonly project: Project;
  readonly choose: (q: string) => void;
}

export function Starters({ project, choose }: Props) {
  const { data } = useQuery(namesQuery(project.id));
  return (
    <>
      {project.isDemo && <List id="demo" title={texts.ask.demoQuestions} starters={DEMO} choose={choose} />}
      <List id="starters" title={texts.ask.starters} starters={startersFor(data?.events[0]?.name)} choose={choose} />
    </>
  );
}

const DEMO: readonly Starter[] = QUESTIONS.map(({ question, q }) => ({ words: question, q }));

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
