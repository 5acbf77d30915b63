// Share menu of Ask: copies a link, a curl command, a YAML card, Markdown or a prompt. It downloads
// CSV.
import { useState } from 'react';
import { queryAsText, ROWS_MAX } from '../api/query.js';
import { RequestFailed } from '../api/request.js';
import { download } from '../shell/download.js';
import { Icon } from '../shell/icon.js';
import { Menu, MenuActions } from '../shell/menu.js';
import { texts } from '../texts.js';
import style from './history-menu.module.css';
import type { Asked } from './permalink.js';
import { toCurl, toPrompt, toYamlCard } from './share.js';

/** As many as a model reads at once. */
const PROMPT_ROWS_MAX = 200;

interface Props {
  readonly projectId: string;
  readonly asked: Asked;
  readonly timezone: string;
}

export function ShareMenu({ projectId, asked, timezone }: Props) {
  const [note, setNote] = useState('');
  const question = { projectId, q: asked.q, timezone, limit: ROWS_MAX };
  const attempt = async (act: () => Promise<string>): Promise<void> => {
    setNote('');
    try {
      setNote(await act());
    } catch (error) {
      setNote(error instanceof RequestFailed ? error.message : texts.ask.copyFailed);
    }
  };
  const copy = (toText: () => string | Promise<string>): Promise<void> =>
    attempt(async () => {
      await navigator.clipboard.writeText(await toText());
      return texts.ask.copied;
    });
  const downloadCsv = (): Promise<void> =>
    attempt(async () => {
      download(new Blob([await queryAsText(question, 'csv')], { type: 'text/csv' }), 'answer.csv');
      return texts.ask.downloaded;
    });
  const toPromptText = async (): Promise<string> => {
    const answer = await queryAsText({ ...question, limit: PROMPT_ROWS_MAX }, 'llm');
    return toPrompt(location.origin, { q: asked.q, answer });
  };
  const label = (
    <>
      <Icon name="share" size={16} />
      <span className={style.label}>{texts.ask.copy}</span>
    </>
  );
  const ways = [
    [texts.ask.copyAs.link, () => copy(() => location.href)],
    [texts.ask.copyAs.curl, () => copy(() => toCurl(location.origin, { q: asked.q, timezone }))],
    [texts.ask.copyAs.yaml, () => copy(() => toYamlCard(asked.q))],
    [texts.ask.copyAs.markdown, () => copy(() => queryAsText(question, 'llm'))],
    [texts.ask.copyAs.prompt, () => copy(toPromptText)],
    [texts.ask.copyAs.csv, downloadCsv],
  ] as const;
  return (
    <>
      <span role="status" className="muted">
        {note}
      </span>
      <Menu label={label} name={texts.ask.copy} side="right">
        {(close) => <MenuActions actions={ways} close={close} />}
      </Menu>
    </>
  );
}
