// Error message of a form.
import style from './settings.module.css';

export function Problem({ text }: { readonly text: string | undefined }) {
  if (text === undefined) return null;
  return (
    <p role="alert" className={style.problem}>
      {text}
    </p>
  );
}
