// The last question of each project and the text that was typed over it, kept in the tab: other
// screens and reloads lose neither. It leaves the browser as little as the fragment does.
import { recallInTab, rememberInTab } from '../shell/storage.js';

/** A text that was not run, and the query of the fragment when it was typed. */
interface Draft {
  readonly asked: string;
  readonly text: string;
}

export const recallFragment = (projectId: string): string => recallInTab(`fragment.${projectId}`, '');
export const rememberFragment = (projectId: string, fragment: string): void =>
  rememberInTab(`fragment.${projectId}`, fragment);

/** The text to show for the query of the fragment: the one that was typed over it, if any. */
export function recallText(projectId: string, asked: string): string {
  const draft = recallInTab<Draft | undefined>(`draft.${projectId}`, undefined);
  return draft?.asked === asked ? draft.text : asked;
}

export const rememberText = (projectId: string, asked: string, text: string): void =>
  rememberInTab(`draft.${projectId}`, { asked, text } satisfies Draft);
