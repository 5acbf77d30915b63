// The versions of Node.js that the tests were run with, and a sentence for any other.

/**
 * Majors with the first version of each, which package.json names in `engines`, and the last day
 * of their security updates.
 */
export const TRIED = [
  { major: 20, minor: 19, supportedUntil: '2026-04-30' },
  { major: 22, minor: 12, supportedUntil: '2027-04-30' },
  { major: 24, minor: 0, supportedUntil: '2028-04-30' },
  { major: 26, minor: 10, supportedUntil: '2029-04-30' },
] as const;

/**
 * The last day of security updates, when it is over. Undefined for a version that was not tried.
 */
export function findSupportEnd(version: string, now: Date): string | undefined {
  const end = TRIED.find(({ major }) => major === Number(version.split('.')[0]))?.supportedUntil;
  return end !== undefined && now.toISOString().slice(0, 10) > end ? end : undefined;
}

/** `isOld`: it cannot run the service. Undefined for a version that was tried. */
export function describeNodeVersion(
  version: string,
): { readonly isOld: boolean; readonly sentence: string } | undefined {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (TRIED.some((tried) => tried.major === major && minor >= tried.minor)) return undefined;
  const names = TRIED.map((tried) => `${tried.major}.${tried.minor}`).join(', ');
  const [first] = TRIED;
  const isOld = major < first.major || (major === first.major && minor < first.minor);
  return {
    isOld,
    sentence: `Node.js ${version} was not tried with this service; ${names} and later ones of these were, and 22 is recommended`,
  };
}
