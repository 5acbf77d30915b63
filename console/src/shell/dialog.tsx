// A modal dialog: the browser keeps the focus inside, and returns it afterwards.
import { type ReactNode, useLayoutEffect, useRef } from 'react';
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
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes a dialog, and the browser sees to it
    <dialog
      ref={dialog}
      aria-label={name}
      className={`${style.dialog} ${className ?? ''}`}
      onClose={close}
      onInput={({ target }) => {
        if (target instanceof Element && target.closest('form') !== null) hasTyped.current = true;
      }}
      onPointerDown={(event) => {
        beganOutside.current = event.target === dialog.current;
      }}
      onClick={(event) => {
        const isOutside = event.target === dialog.current && beganOutside.current;
        // A click beside a form loses nothing that was typed: Escape and its buttons close it.
        if (isOutside && !hasTyped.current) dialog.current?.close();
      }}
    >
      {children}
    </dialog>
  );
}
