// Splits ids into lists that fit into one query parameter: ClickHouse reads at most 128 KiB
// (http_max_field_value_size), and anyone with the public key can map any number of devices with
// long ids to a person.

const BYTES_MAX = 100_000;
const QUOTES_AND_COMMA = 3;

/** In the worst case every character is escaped. */
const sizeInBody = (id: string): number => 2 * Buffer.byteLength(id) + QUOTES_AND_COMMA;

/** In the address every byte that is not plain has three characters. */
export function sizeInAddress(id: string): number {
  const plain = id.replace(/[^\w.-]/g, '').length;
  return plain + 3 * (2 * (Buffer.byteLength(id) - plain) + QUOTES_AND_COMMA);
}

/** The ids in order, in as many lists as needed for each to fit into one parameter. */
export function inParameters(ids: readonly string[], sizeOf = sizeInBody): string[][] {
  const lists: string[][] = [];
  let bytes = BYTES_MAX;
  for (const id of ids) {
    const size = sizeOf(id);
    if (bytes + size > BYTES_MAX) {
      lists.push([]);
      bytes = 0;
    }
    lists.at(-1)?.push(id);
    bytes += size;
  }
  return lists;
}
