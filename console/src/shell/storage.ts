// Settings and history of this browser. Storage may be forbidden or full: then nothing is
// remembered.

const PREFIX = 'console.';

export function recall<T>(name: string, otherwise: T): T {
  try {
    const kept = localStorage.getItem(PREFIX + name);
    return kept === null ? otherwise : (JSON.parse(kept) as T);
  } catch {
    return otherwise;
  }
}

export function remember(name: string, value: unknown): void {
  try {
    localStorage.setItem(PREFIX + name, JSON.stringify(value));
  } catch {
    // Not remembered.
  }
}

/** At sign-out: the next person at this browser must not see the queries of this one. */
export function forgetAll(): void {
  try {
    for (const key of Object.keys(localStorage)) if (key.startsWith(PREFIX)) localStorage.removeItem(key);
  } catch {
    // Nothing was remembered.
  }
}
