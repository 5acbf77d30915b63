// Difference of two texts by lines: what both begin and end with stays, and the longest common
// subsequence of what is between.

export interface DiffLine {
  readonly kind: 'same' | 'added' | 'removed';
  readonly text: string;
}

/** Cells of the table of common subsequences; beyond it, all lines between count as changed. */
const CELLS_MAX = 4_000_000;

export function diffLines(before: string, after: string): readonly DiffLine[] {
  const [a, b] = [before.split('\n'), after.split('\n')];
  let start = 0;
  while (start < Math.min(a.length, b.length) && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < Math.min(a.length, b.length) - start && a.at(-1 - end) === b.at(-1 - end)) end += 1;
  const same = (lines: readonly string[]): DiffLine[] => lines.map((text) => ({ kind: 'same', text }));
  return [
    ...same(a.slice(0, start)),
    ...diffMiddle(a.slice(start, a.length - end), b.slice(start, b.length - end)),
    ...same(end === 0 ? [] : a.slice(-end)),
  ];
}

function diffMiddle(a: readonly string[], b: readonly string[]): DiffLine[] {
  const removed = (text = ''): DiffLine => ({ kind: 'removed', text });
  const added = (text = ''): DiffLine => ({ kind: 'added', text });
  if (a.length * b.length > CELLS_MAX) return [...a.map(removed), ...b.map(added)];
  const width = b.length + 1;
  const longest = new Uint32Array((a.length + 1) * width);
  const at = (i: number, j: number): number => longest[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      longest[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const lines: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < a.length && j < b.length) {
    if (a[i] === b[j]) {
      lines.push({ kind: 'same', text: a[i] ?? '' });
      i += 1;
      j += 1;
    } else if (at(i + 1, j) >= at(i, j + 1)) {
      lines.push(removed(a[i]));
      i += 1;
    } else {
      lines.push(added(b[j]));
      j += 1;
    }
  }
  return [...lines, ...a.slice(i).map(removed), ...b.slice(j).map(added)];
}

const AROUND = 3;

/** Changed lines with three around them; undefined stands for lines that are left out. */
export function hunksOf(lines: readonly DiffLine[]): readonly (DiffLine | undefined)[] {
  const isNear = lines.map((_, index) =>
    lines.slice(Math.max(0, index - AROUND), index + AROUND + 1).some(({ kind }) => kind !== 'same'),
  );
  return lines.flatMap((line, index) => (isNear[index] ? [line] : isNear[index - 1] || index === 0 ? [undefined] : []));
}
