// How many ids go to the engine at once: a ClickHouse server reads at most 128 KiB as one parameter of a query
// (http_max_field_value_size), and whoever knows the public key can give a person devices with long names without end.

const BYTES_MAX = 100_000;
const QUOTES_AND_COMMA = 3;

/** The ids in their order, in as many lists as it takes for each to fit into one parameter. */
export function inParameters(ids: readonly string[]): string[][] {
  const lists: string[][] = [];
  let bytes = BYTES_MAX;
  for (const id of ids) {
    // At worst every character of it is escaped.
    const size = 2 * Buffer.byteLength(id) + QUOTES_AND_COMMA;
    if (bytes + size > BYTES_MAX) {
      lists.push([]);
      bytes = 0;
    }
    lists.at(-1)?.push(id);
    bytes += size;
  }
  return lists;
}
