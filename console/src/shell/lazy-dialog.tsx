// Boundary of a dialog that is loaded when it opens. A dialog also says that its file is missing:
// the page below stays.
import { type ReactNode, Suspense } from 'react';
import { texts } from '../texts.js';
import { Boundary } from './boundary.js';
import { Dialog } from './dialog.js';
import style from './plain-page.module.css';

interface Props {
  readonly close: () => void;
  readonly children: ReactNode;
}

export function LazyDialog({ close, children }: Props) {
  return (
    <Boundary
      part="dialog"
      of="dialog"
      frame={(message) => (
        <Dialog name={texts.failedParts.dialog} close={close} className={style.dialog}>
          {message}
          <form method="dialog" className={style.buttons}>
            <button type="submit" className="button small">
              {texts.close}
            </button>
          </form>
        </Dialog>
      )}
    >
      <Suspense fallback={null}>{children}</Suspense>
    </Boundary>
  );
}
