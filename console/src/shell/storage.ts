// Settings and history of this browser, and what a tab keeps until it is closed. Storage may be
// forbidden or full: then nothing is remembered.

const PREFIX = 'console.';
/** Id of the person whose things are remembered. */
const OWNER = 'owner';

/** `localStorage` is shared by the tabs of a browser, `sessionStorage` belongs to one. */
type Area = 'localStorage' | 'sessionStorage';

function read<T>(area: Area, name: string, otherwise: T): T {
  try {
    const kept = window[area].getItem(PREFIX + name);
    return kept === null ? otherwise : (JSON.parse(kept) as T);
  } catch {
    return otherwise;
  }
}

function write(area: Area, name: string, value: unknown): void {
  try {
    window[area].setItem(PREFIX + name, JSON.stringify(value));
  } catch {
    // Not remembered.
  }
}

export const recall = <T>(name: string, otherwise: T): T => read('localStorage', name, otherwise);
export const remember = (name: string, value: unknown): void => write('localStorage', name, value);
export const recallInTab = <T>(name: string, otherwise: T): T => read('sessionStorage', name, otherwise);
export const rememberInTab = (name: string, value: unknown): void => write('sessionStorage', name, value);

const AREAS: readonly Area[] = ['localStorage', 'sessionStorage'];

function forget(area: Area): void {
  try {
    for (const key of Object.keys(window[area])) if (key.startsWith(PREFIX)) window[area].removeItem(key);
  } catch {
    // Nothing was remembered.
  }
}

/** At sign-out: the next person at this browser must not see the queries of this one. */
export const forgetAll = (): void => AREAS.forEach(forget);

/**
 * Forgets what another person has left whose session ended. What a tab kept before anyone signed in
 * is of the first who does.
 */
export function keepOnlyOf(personId: string): void {
  for (const area of AREAS) {
    if (read(area, OWNER, personId) !== personId) forget(area);
    write(area, OWNER, personId);
  }
}
