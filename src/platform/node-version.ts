// The versions of Node.js that the tests were run with, and a sentence for any other.

/** Majors with the first version of each; package.json names the same in `engines`. */
export const TRIED = [
  { major: 20, minor: 19 },
  { major: 22, minor: 12 },
  { major: 24, minor: 0 },
] as const;

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
