// Unsaved text of a document, kept in the tab until it is saved or cancelled: another screen, a
// reload or a new sign-in does not lose it.
import { useEffect, useState } from 'react';
import { recallInTab, rememberInTab } from '../shell/storage.js';

interface Versioned {
  /** The version of the document that the text changes. */
  readonly version: number;
  readonly text: string;
}

export interface KeptText extends Versioned {
  readonly setText: (text: string) => void;
  /** Whether the text is from an earlier visit. */
  readonly isRestored: boolean;
  /** Whether it changes an older version than the stored one. */
  readonly isOvertaken: boolean;
  readonly forget: () => void;
}

/** Whether the tab has text of the document that is not saved. */
export const hasKeptText = (documentName: string): boolean => recallInTab(nameOf(documentName), null) !== null;

const nameOf = (documentName: string): string => `text.${documentName}`;

/** `stored` is what the editor begins with when nothing is kept. */
export function useKeptText(documentName: string, stored: Versioned): KeptText {
  const name = nameOf(documentName);
  const [kept] = useState(() => recallInTab<Versioned | null>(name, null));
  const { version } = kept ?? stored;
  const [text, setText] = useState((kept ?? stored).text);
  useEffect(() => {
    rememberInTab(name, text === stored.text ? null : ({ version, text } satisfies Versioned));
  }, [name, version, text, stored.text]);
  const isOvertaken = version < stored.version;
  return { version, text, setText, isRestored: kept !== null, isOvertaken, forget: () => rememberInTab(name, null) };
}
