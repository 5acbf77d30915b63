// Numbers that JSON does not have: ClickHouse writes them as the texts "inf", "-inf" and "nan". The
// types of the columns tell them from texts of events that read the same.

const UNUSUAL = new Map<unknown, number>([
  ['inf', Number.POSITIVE_INFINITY],
  ['-inf', Number.NEGATIVE_INFINITY],
  ['nan', Number.NaN],
  ['-nan', Number.NaN],
]);
const WRITTEN = ['"inf"', '"-inf"', '"nan"', '"-nan"'];

interface Data {
  readonly meta: readonly { readonly type: string }[];
  readonly data: readonly (readonly unknown[])[];
}

type Read = (value: unknown) => unknown;

/**
 * Rows of an answer in JSONCompact, in which NaN is a missing number, or the difference of two
 * infinities.
 */
export function readRows(json: Buffer): Data['data'] {
  const { meta, data } = JSON.parse(json.toString()) as Data;
  if (!WRITTEN.some((text) => json.includes(text))) return data;
  const reads = meta.map(({ type }) => readerOf(type));
  return data.map((row) => row.map((value, index) => (reads[index] ?? asIs)(value)));
}

const asIs: Read = (value) => value;

/** Undefined for types without floating-point numbers. */
function readerOf(type: string): Read | undefined {
  const [, name, inner = ''] = /^(\w+)(?:\((.*)\))?$/.exec(type) ?? [];
  switch (name) {
    case 'Float32':
    case 'Float64':
      return (value) => (UNUSUAL.has(value) ? UNUSUAL.get(value) : value);
    case 'Nullable':
    case 'LowCardinality':
      return readerOf(inner);
    case 'Array': {
      const read = readerOf(inner);
      return read && ((value) => (value as readonly unknown[]).map(read));
    }
    case 'Map': {
      const read = readerOf(splitTypes(inner)[1] ?? '');
      return read && ((value) => mapValues(value as object, read));
    }
    case 'Tuple': {
      const reads = splitTypes(inner).map(readerOf);
      if (reads.every((read) => read === undefined)) return undefined;
      const readPart = (of: unknown, index: number): unknown => (reads[index] ?? asIs)(of);
      // With named parts it is an object, in their order.
      return (value) => (Array.isArray(value) ? value.map(readPart) : mapValues(value as object, readPart));
    }
    default:
      return undefined;
  }
}

/** Built from entries, because a key may be `__proto__`. */
const mapValues = (value: object, read: (of: unknown, index: number) => unknown): unknown =>
  Object.fromEntries(Object.entries(value).map(([key, of], index) => [key, read(of, index)]));

/** `a Float64, b Map(String, Float64)` → the types, without the names of a tuple's parts. */
function splitTypes(list: string): string[] {
  const types: string[] = [];
  let [depth, start] = [0, 0];
  for (const [index, sign] of [...list].entries()) {
    if (sign === '(') depth++;
    else if (sign === ')') depth--;
    else if (depth > 0) continue;
    else if (sign === ',') {
      types.push(list.slice(start, index));
      start = index + 1;
    } else if (sign === ' ') start = index + 1;
  }
  return [...types, list.slice(start)];
}
