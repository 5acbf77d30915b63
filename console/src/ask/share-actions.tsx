// Actions of the share menu.
import type { Answer } from '../api/answer.js';
import { ROWS_MAX } from '../api/query.js';
import { download } from '../shell/download.js';
import { MenuActions } from '../shell/menu.js';
import { shareTexts } from '../texts/share.js';
import { texts } from '../texts.js';
import { toCsv } from './answer-csv.js';
import { toMarkdown } from './answer-markdown.js';
import type { Asked } from './permalink.js';
import { toCurl, toPrompt, toYamlCard } from './share.js';

/** As many as a model reads at once. */
const PROMPT_ROWS_MAX = 200;

interface Props {
  readonly asked: Asked;
  readonly timezone: string;
  readonly readRows: (rows: number) => Promise<Answer>;
  /** Shows what an action resolves to, or why it failed. */
  readonly attempt: (act: () => Promise<string>) => Promise<void>;
  readonly close: () => void;
}

export function ShareActions({ asked, timezone, readRows, attempt, close }: Props) {
  const copy = (toText: () => string | Promise<string>): Promise<void> =>
    attempt(async () => {
      await navigator.clipboard.writeText(await toText());
      return texts.ask.copied;
    });
  const downloadCsv = (): Promise<void> =>
    attempt(async () => {
      download(new Blob([toCsv(await readRows(ROWS_MAX))], { type: 'text/csv' }), 'answer.csv');
      return shareTexts.downloaded;
    });
  const readMarkdown = async (rowsMax: number): Promise<string> =>
    toMarkdown(await readRows(rowsMax), { q: asked.q, rowsMax });
  const readPrompt = async (): Promise<string> =>
    toPrompt(location.origin, { q: asked.q, answer: await readMarkdown(PROMPT_ROWS_MAX) });
  const ways = [
    [shareTexts.link, () => copy(() => location.href)],
    [shareTexts.curl, () => copy(() => toCurl(location.origin, { q: asked.q, timezone }))],
    [shareTexts.yaml, () => copy(() => toYamlCard(asked.q))],
    [shareTexts.markdown, () => copy(() => readMarkdown(ROWS_MAX))],
    [shareTexts.prompt, () => copy(readPrompt)],
    [shareTexts.csv, downloadCsv],
  ] as const;
  return <MenuActions actions={ways} close={close} />;
}
