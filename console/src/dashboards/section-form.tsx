// The form of a section: its title, and its removal with all of its cards.
import { useKeptFields } from '../shell/kept-fields.js';
import { dashboardsTexts } from '../texts/dashboards.js';
import { FormDialog } from './form-dialog.js';

const words = dashboardsTexts.form;

interface Props {
  /** Undefined for a new section. */
  readonly section: { readonly title: string; readonly cards: readonly unknown[] } | undefined;
  readonly formName: string;
  readonly failure: string | undefined;
  /** A title of null removes it. */
  readonly apply: (title: string | null) => Promise<void>;
  readonly close: () => void;
}

export function SectionForm({ section, formName, failure, apply, close }: Props) {
  const fields = useKeptFields(formName);
  const name = section === undefined ? dashboardsTexts.newSection : dashboardsTexts.editSection(section.title);
  const count = section?.cards.length ?? 0;
  return (
    <FormDialog
      name={name}
      fields={fields}
      failure={failure}
      apply={(form) => apply(String(form.get('title')).trim())}
      removeLabel={words.removeSection}
      remove={section && (() => apply(null))}
      close={close}
    >
      <label>
        {words.title}
        <input className="field" name="title" required maxLength={200} defaultValue={section?.title ?? ''} />
      </label>
      {count > 0 && <p className="muted">{words.sectionNote(count)}</p>}
    </FormDialog>
  );
}
