// Code with a button that copies it.
import { CopyButton } from './copy-button.js';
import style from './start.module.css';

export function Snippet({ name, text }: { readonly name: string; readonly text: string }) {
  return (
    <div className={style.snippet}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: code that scrolls must be reachable by keyboard */}
      <pre tabIndex={0}>
        <code>{text}</code>
      </pre>
      <CopyButton className={style.copy} name={name} text={text} />
    </div>
  );
}
