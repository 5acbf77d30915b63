// A button that shows a panel of links and buttons below itself, which the arrow keys, Home and End
// go through, from a search field as well. It closes with Escape, with a click outside, and when
// the focus leaves it.
import { type KeyboardEvent as Key, type ReactNode, useEffect, useId, useLayoutEffect, useRef, useState } from 'react';
import { Boundary } from './boundary.js';
import style from './menu.module.css';

export interface MenuProps {
  readonly label: ReactNode;
  /** Accessible name, when the label is a picture or needs more words. */
  readonly name?: string;
  readonly className?: string;
  readonly side?: 'left' | 'right';
  readonly children: (close: () => void) => ReactNode;
}

const EDGE_PIXELS = 12;
const CONTROLS = 'a[href], button:enabled, input[type=search]';

export function Menu({ label, name, className = 'button plain', side = 'left', children }: MenuProps) {
  const [isOpen, setOpen] = useState(false);
  const id = useId();
  const root = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const panel = useRef<HTMLDivElement>(null);

  useLayoutEffect(() => {
    const element = panel.current;
    if (!isOpen || element === null) return;
    // Beside the edge of a narrow page, it moves inwards.
    const place = (): void => {
      element.style.removeProperty(side);
      const { left, right } = element.getBoundingClientRect();
      const beyond = side === 'left' ? right + EDGE_PIXELS - document.documentElement.clientWidth : EDGE_PIXELS - left;
      if (beyond > 0) element.style.setProperty(side, `${-beyond}px`);
    };
    place();
    // Again when the page is turned or zoomed, and when what it shows has been loaded.
    const observer = new ResizeObserver(place);
    observer.observe(element);
    observer.observe(document.body);
    return () => observer.disconnect();
  }, [isOpen, side]);

  useEffect(() => {
    if (!isOpen) return;
    const closeOutside = (event: Event): void => {
      if (event.target instanceof Node && root.current?.contains(event.target) === false) setOpen(false);
    };
    const closeByKey = (event: KeyboardEvent): void => {
      if (event.key !== 'Escape') return;
      setOpen(false);
      button.current?.focus();
    };
    document.addEventListener('pointerdown', closeOutside);
    document.addEventListener('focusin', closeOutside);
    document.addEventListener('keydown', closeByKey);
    return () => {
      document.removeEventListener('pointerdown', closeOutside);
      document.removeEventListener('focusin', closeOutside);
      document.removeEventListener('keydown', closeByKey);
    };
  }, [isOpen]);

  const move = (event: Key): void => {
    const controls: Element[] = [...(panel.current?.querySelectorAll(CONTROLS) ?? [])];
    const at = controls.indexOf(event.target as Element);
    const to = { ArrowDown: (at + 1) % controls.length, ArrowUp: Math.max(at, 0) - 1, Home: 0, End: -1 }[event.key];
    const isField = event.target instanceof HTMLInputElement;
    // Other fields use the arrow keys themselves, and all fields the other two.
    const isOwn = isField ? at < 0 || !event.key.startsWith('Arrow') : at < 0 && event.target !== button.current;
    if (!isOpen || to === undefined || isOwn) return;
    event.preventDefault();
    (controls.at(to) as HTMLElement | undefined)?.focus();
  };
  /** The focus would be lost with the panel. */
  const close = (): void => {
    if (panel.current?.contains(document.activeElement)) button.current?.focus();
    setOpen(false);
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the keys of the controls in it
    <div className={style.menu} ref={root} onKeyDown={move}>
      <button
        ref={button}
        type="button"
        className={className}
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        aria-label={name}
        onClick={() => setOpen(!isOpen)}
      >
        {label}
      </button>
      {isOpen && (
        <div ref={panel} id={id} className={`${style.panel} ${side === 'right' ? style.right : ''}`}>
          <Boundary part="menu" of={isOpen}>
            {children(close)}
          </Boundary>
        </div>
      )}
    </div>
  );
}

export const menuItem: string = style.item ?? '';
export const menuTitle: string = style.title ?? '';

interface MenuActionsProps {
  readonly actions: readonly (readonly [name: string, act: () => unknown])[];
  readonly close: () => void;
}

/** Buttons of a menu, each of which closes it before it acts. */
export function MenuActions({ actions, close }: MenuActionsProps) {
  return actions.map(([name, act]) => (
    <button
      key={name}
      type="button"
      className={menuItem}
      onClick={() => {
        close();
        void act();
      }}
    >
      {name}
    </button>
  ));
}
