// Splits ids into lists that fit into one query parameter: ClickHouse reads at most 128 KiB
// (http_max_field_value_size), and anyone with the public key can map any number of devices with
// long ids to a person.

const BYTES_MAX = 100_000;
const QUOTES_AND_COMMA = 3;

/** The ids in order, in as many lists as needed for each to fit into one parameter. */
export function inParameters(ids: readonly string[]): string[][] {
  const lists: string[][] = [];
  let bytes = BYTES_MAX;
  for (const id of ids) {
    // In the worst case every character is escaped.
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
