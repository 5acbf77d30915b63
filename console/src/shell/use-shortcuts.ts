// Keyboard shortcuts of every screen. None of the browser's own is taken, and letters do nothing
// while a person types.
import { useEffect } from 'react';
import { navigate } from 'wouter/use-browser-location';
import type { Project } from '../boot.js';
import { NAVIGATION } from './shell.js';
import { recall } from './storage.js';

const SEQUENCE_MS = 1500;
/** Event that the query field of a screen answers with its focus. */
export const FOCUS_QUERY = 'console:focus-query';

export function useShortcuts(project: Project, show: (dialog: 'palette' | 'help') => void): void {
  useEffect(() => {
    let goPressedAt = 0;
    const press = (event: KeyboardEvent): void => {
      if (event.defaultPrevented) return;
      if ((event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && event.key.toLowerCase() === 'k') {
        event.preventDefault();
        show('palette');
        return;
      }
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event) || !recall('letters', true)) return;
      if (document.querySelector('dialog[open]') !== null) return;
      const screen = NAVIGATION.find(({ letter }) => letter === event.key);
      if (screen !== undefined && event.timeStamp - goPressedAt < SEQUENCE_MS) {
        event.preventDefault();
        navigate(`/projects/${project.id}/${screen.name}`);
      } else if (event.key === '/') {
        event.preventDefault();
        window.dispatchEvent(new Event(FOCUS_QUERY));
      } else if (event.key === '?') {
        show('help');
      }
      goPressedAt = event.key === 'g' ? event.timeStamp : 0;
    };
    window.addEventListener('keydown', press);
    return () => window.removeEventListener('keydown', press);
  }, [project.id, show]);
}

/** The target inside of shadow roots is the editor. */
function isTyping(event: KeyboardEvent): boolean {
  const [target] = event.composedPath();
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName))
  );
}
