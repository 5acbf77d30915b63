// Properties whose names are data.

/**
 * Sets a property of the object itself. A plain assignment to `__proto__` would change its
 * prototype.
 */
export function setOwnProperty(object: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== '__proto__') object[key] = value;
  else Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
}
