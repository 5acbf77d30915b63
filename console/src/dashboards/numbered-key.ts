// The key of a new dashboard whose own key is taken. Pure.

export const TRIES = 20;
const KEY_LENGTH_MAX = 63;

/** After the tries the number is the time, which no other key has. */
export function numbered(key: string, count: number): string {
  if (count === 1) return key;
  const end = `-${count > TRIES ? Date.now() : count}`;
  return key.slice(0, KEY_LENGTH_MAX - end.length).replace(/-$/, '') + end;
}
