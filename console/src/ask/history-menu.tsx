// Queries that were run before.
import { useState } from 'react';
import { Icon } from '../shell/icon.js';
import { Menu, menuItem } from '../shell/menu.js';
import { texts } from '../texts.js';
import { clearHistory, recallHistory } from './history.js';
import style from './history-menu.module.css';
import type { Asked } from './permalink.js';

export function HistoryMenu({ projectId, choose }: { projectId: string; choose: (asked: Asked) => void }) {
  const label = (
    <>
      <Icon name="history" size={16} />
      <span className={style.label}>{texts.ask.history}</span>
    </>
  );
  return (
    <Menu label={label} name={texts.ask.history} side="right">
      {(close) => (
        <Queries
          projectId={projectId}
          choose={(asked) => {
            close();
            choose(asked);
          }}
        />
      )}
    </Menu>
  );
}

function Queries({ projectId, choose }: { projectId: string; choose: (asked: Asked) => void }) {
  const [queries, setQueries] = useState(() => recallHistory(projectId));
  if (queries.length === 0) return <p className={style.note}>{texts.ask.historyEmpty}</p>;
  return (
    <>
      {queries.map((asked) => (
        <button key={asked.q} type="button" className={menuItem} onClick={() => choose(asked)}>
          <code className={style.query}>{asked.q}</code>
        </button>
      ))}
      <button
        type="button"
        className={`${menuItem} ${style.clear}`}
        onClick={() => {
          clearHistory(projectId);
          setQueries([]);
        }}
      >
        {texts.ask.clearHistory}
      </button>
    </>
  );
}
