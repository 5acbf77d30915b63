// Command palette (Ctrl+K): one field that finds screens, projects, dashboards and earlier queries.
// What it finds is loaded behind the field: letters typed meanwhile are in it.
import { type KeyboardEvent, lazy, type RefObject, Suspense, useId, useRef, useState } from 'react';
import type { Boot, Project } from '../boot.js';
import { texts } from '../texts.js';
import { Boundary } from './boundary.js';
import { Dialog } from './dialog.js';
import style from './palette.module.css';

const loadFound = () => import('./palette-found.js');
// Behind the first view, before it is asked for.
loadFound().catch(() => {});
const Found = lazy(async () => ({ default: (await loadFound()).Found }));

interface Props {
  readonly boot: Boot;
  readonly project: Project;
  readonly close: () => void;
}

type Press = (event: KeyboardEvent) => void;

export interface FoundProps extends Props {
  /** Of the list. Its options have it with their index behind. */
  readonly id: string;
  readonly words: string;
  readonly setOption: (index: number | undefined) => void;
  /** Takes the keys that are pressed in the field. */
  readonly keys: RefObject<Press | undefined>;
}

export function Palette(props: Props) {
  const [words, setWords] = useState('');
  const [option, setOption] = useState<number>();
  const keys = useRef<Press>(undefined);
  const id = useId();
  return (
    <Dialog name={texts.goTo} close={props.close}>
      <input
        className={style.input}
        autoFocus
        role="combobox"
        aria-label={texts.goTo}
        aria-expanded={option !== undefined}
        aria-controls={id}
        aria-activedescendant={option === undefined ? undefined : `${id}-${option}`}
        placeholder={texts.goToWhat}
        value={words}
        onKeyDown={(event) => keys.current?.(event)}
        onChange={(event) => setWords(event.target.value)}
      />
      <Boundary part="part" of="found" frame={(message) => <div className={style.failed}>{message}</div>}>
        <Suspense fallback={null}>
          <Found {...props} id={id} words={words} setOption={setOption} keys={keys} />
        </Suspense>
      </Boundary>
    </Dialog>
  );
}
