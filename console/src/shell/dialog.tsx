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
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes a dialog, and the browser sees to it
    <dialog
      ref={dialog}
      aria-label={name}
      className={`${style.dialog} ${className ?? ''}`}
      onClose={close}
      onPointerDown={(event) => {
        beganOutside.current = event.target === dialog.current;
      }}
      onClick={(event) => {
        if (event.target === dialog.current && beganOutside.current) dialog.current.close();
      }}
    >
      {children}
    </dialog>
  );
}
