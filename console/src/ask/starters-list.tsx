// The screen before the first query: questions in words.
import { useQuery } from '@tanstack/react-query';
import { namesQuery } from '../api/names.js';
import { texts } from '../texts.js';
import { startersFor } from './starters.js';
import style from './starters-list.module.css';

export function Starters({ projectId, choose }: { projectId: string; choose: (q: string) => void }) {
  const { data } = useQuery(namesQuery(projectId));
  return (
    <section aria-labelledby="starters">
      <h2 id="starters" className={style.title}>
        {texts.ask.starters}
      </h2>
      <ul className={style.list}>
        {startersFor(data?.events[0]?.name).map(({ words, q }) => (
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
