// Actions of the share menu.
import type { Answer } from '../api/answer.js';
import { queryAsText, ROWS_MAX } from '../api/query.js';
import { download } from '../shell/download.js';
import { MenuActions } from '../shell/menu.js';
import { texts } from '../texts.js';
import { toCsv } from './answer-csv.js';
import type { Asked } from './permalink.js';
import { toCurl, toPrompt, toYamlCard } from './share.js';

/** As many as a model reads at once. */
const PROMPT_ROWS_MAX = 200;

interface Props {
  readonly projectId: string;
  readonly asked: Asked;
  readonly timezone: string;
  readonly readWhole: () => Promise<Answer>;
  /** Shows what an action resolves to, or why it failed. */
  readonly attempt: (act: () => Promise<string>) => Promise<void>;
  readonly close: () => void;
}

export function ShareActions({ projectId, asked, timezone, readWhole, attempt, close }: Props) {
  const question = { projectId, q: asked.q, timezone, limit: ROWS_MAX };
  const copy = (toText: () => string | Promise<string>): Promise<void> =>
    attempt(async () => {
      await navigator.clipboard.writeText(await toText());
      return texts.ask.copied;
    });
  const downloadCsv = (): Promise<void> =>
    attempt(async () => {
      download(new Blob([toCsv(await readWhole())], { type: 'text/csv' }), 'answer.csv');
      return texts.ask.downloaded;
    });
  const toPromptText = async (): Promise<string> => {
    const answer = await queryAsText({ ...question, limit: PROMPT_ROWS_MAX }, 'llm');
    return toPrompt(location.origin, { q: asked.q, answer });
  };
  const ways = [
    [texts.ask.copyAs.link, () => copy(() => location.href)],
    [texts.ask.copyAs.curl, () => copy(() => toCurl(location.origin, { q: asked.q, timezone }))],
    [texts.ask.copyAs.yaml, () => copy(() => toYamlCard(asked.q))],
    [texts.ask.copyAs.markdown, () => copy(() => queryAsText(question, 'llm'))],
    [texts.ask.copyAs.prompt, () => copy(toPromptText)],
    [texts.ask.copyAs.csv, downloadCsv],
  ] as const;
  return <MenuActions actions={ways} close={close} />;
}
