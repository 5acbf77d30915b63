// The form that is open while a dashboard is edited. The tab keeps which one it is, and what was
// typed into it (kept-fields.ts), until the form is closed: a reload opens it again.
import { useEffect, useState } from 'react';
import { forgetFields } from '../shell/kept-fields.js';
import { recallInTab, rememberInTab } from '../shell/storage.js';
import type { OpenForm } from './cards-panel.js';

export interface OpenFormState {
  readonly open: OpenForm | undefined;
  readonly setOpen: (form: OpenForm) => void;
  /** Under which its fields are kept. */
  readonly formName: string;
  readonly closeForm: () => void;
}

/** `card` is the one whose form is open at first. */
export function useOpenForm(dashboardId: string, card: string | undefined): OpenFormState {
  const name = `form-of.${dashboardId}`;
  const [open, setOpen] = useState(() =>
    card === undefined
      ? (recallInTab<OpenForm | null>(name, null) ?? undefined)
      : ({ kind: 'card', id: card } as const),
  );
  useEffect(() => rememberInTab(name, open ?? null), [name, open]);
  const formName = `${dashboardId}.${JSON.stringify(open)}`;
  const closeForm = (): void => {
    forgetFields(formName);
    setOpen(undefined);
  };
  return { open, setOpen, formName, closeForm };
}

export const isNew = (form: OpenForm): boolean => !('id' in form || 'index' in form || 'name' in form);
