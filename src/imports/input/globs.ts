// Globs for paths that the shell has not expanded: `*` and `?` within a folder, `**` across
// folders. Node 20 has no fs.glob.

export const isGlob = (path: string): boolean => /[*?]/.test(path);

/** The folder before the first segment with a wildcard. */
export function globRoot(path: string): string {
  const fixed = path.slice(0, path.search(/[*?]/));
  const end = fixed.lastIndexOf('/');
  if (end === -1) return '.';
  return end === 0 ? '/' : fixed.slice(0, end);
}

/** Matches paths as they are found under `globRoot`. */
export function toGlobRegExp(path: string): RegExp {
  const pattern = path.replace(/^\.\//, '').replace(/\*\*\/|\*\*|\*|\?|[.+^${}()|[\]\\]/g, (token) => {
    if (token === '**/') return '(?:.*/)?';
    if (token === '**') return '.*';
    if (token === '*') return '[^/]*';
    return token === '?' ? '[^/]' : `\\${token}`;
  });
  return new RegExp(`^(?:\\./)?${pattern}$`);
}
