// A modal dialog: the browser keeps the focus inside, and returns it afterwards. A click outside
// and the first Escape lose nothing that was typed into a form of it.
import { type ReactNode, useLayoutEffect, useRef, useState } from 'react';
import { texts } from '../texts.js';
import style from './dialog.module.css';

interface Props {
  readonly name: string;
  readonly close: () => void;
  readonly className?: string | undefined;
  readonly children: ReactNode;
}

export function Dialog({ name, close, className, children }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    const element = dialog.current;
    element?.showModal();
    // A dialog that is removed while it is open returns no focus.
    return () => element?.close();
  }, []);
  // A click is also what ends outside after text was selected in a field.
  const beganOutside = useRef(false);
  const hasTyped = useRef(false);
  const [isWarned, setWarned] = useState(false);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes a dialog, and the browser sees to it
    <dialog
      ref={dialog}
      aria-label={name}
      className={`${style.dialog} ${className ?? ''}`}
      onClose={close}
      onCancel={(event) => {
        if (event.target !== dialog.current || !hasTyped.current || isWarned) return;
        event.preventDefault();
        setWarned(true);
      }}
      onInput={({ target }) => {
        if (target instanceof Element && target.closest('form') !== null) hasTyped.current = true;
        setWarned(false);
      }}
      onPointerDown={(event) => {
        beganOutside.current = event.target === dialog.current;
      }}
      onClick={(event) => {
        const isOutside = event.target === dialog.current && beganOutside.current;
        // Two presses of Escape and the buttons of the form close it.
        if (isOutside && !hasTyped.current) dialog.current?.close();
      }}
    >
      {children}
      <p role="status" className={style.warning}>
        {isWarned && texts.escapeAgain}
      </p>
    </dialog>
  );
}
