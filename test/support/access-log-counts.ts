// Expected counts of an access log, computed with awk and with the databases of browsers and
// addresses, independently of the service.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

export interface AccessLogCounts {
  readonly events: number;
  readonly devices: number;
  /** By day as `2015-05-17`. */
  readonly byDay: ReadonlyMap<string, number>;
  readonly byPath: ReadonlyMap<string, number>;
  /** Status 400 and above, by hour as `2015-05-17T10:00:00Z`. */
  readonly errorsByHour: ReadonlyMap<string, number>;
  readonly byAddress: ReadonlyMap<string, number>;
  readonly byUserAgent: ReadonlyMap<string, number>;
}

// POSIX awk: it has to run in mawk, gawk and busybox. Escaped quotes are hidden while the line is
// split at its quotes.
const PROGRAM = String.raw`
BEGIN {
  FS = "\""
  for (m = split("Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec", names, " "); m > 0; m--) month[names[m]] = sprintf("%02d", m)
}
{
  gsub(/\\"/, "\001")
  if (NF < 3 || !match($1, /\[[^]]*\]/)) next
  split(substr($1, RSTART + 1, RLENGTH - 2), t, /[\/: ]/)
  if (!(t[2] in month) || t[7] != "+0000") next
  split($1, head, " ")
  split($3, numbers, " ")
  day = t[3] "-" month[t[2]] "-" t[1]
  count["events", ""]++
  count["day", day]++
  count["address", head[1]]++
  count["agent", NF >= 6 ? $6 : "-"]++
  if (numbers[1] + 0 >= 400) count["error", day "T" t[4] ":00:00Z"]++
  if (head[1] != "-" && !((head[1], $6) in seen)) { seen[head[1], $6]; count["devices", ""]++ }
  path = $2
  sub(/^[A-Z]+ /, "", path)
  sub(/ HTTP\/[0-9.]+$/, "", path)
  sub(/[?#].*$/, "", path)
  if ($2 ~ /^[A-Z]+ \//) count["path", path]++
}
END {
  for (key in count) { split(key, part, SUBSEP); text = part[2]; gsub("\001", "\"", text); print part[1] "\t" text "\t" count[key] }
}
`;

export async function countWithAwk(file: string): Promise<AccessLogCounts> {
  const { stdout } = await promisify(execFile)('awk', [PROGRAM, file], {
    env: { ...process.env, LC_ALL: 'C' },
    maxBuffer: 64 * 1024 * 1024,
  });
  const rows = stdout.split('\n').map((line) => line.split('\t'));
  const group = (kind: string): ReadonlyMap<string, number> =>
    new Map(rows.filter(([name]) => name === kind).map(([, key = '', count]) => [key, Number(count)]));
  return {
    events: group('events').get('') ?? 0,
    devices: group('devices').get('') ?? 0,
    byDay: group('day'),
    byPath: group('path'),
    errorsByHour: group('error'),
    byAddress: group('address'),
    byUserAgent: group('agent'),
  };
}

/** Sums counts under another key; keys for which `toKey` is undefined are dropped. */
export function regroup<K>(
  counts: ReadonlyMap<string, number>,
  toKey: (key: string) => K | undefined,
): ReadonlyMap<K, number> {
  const sums = new Map<K, number>();
  for (const [key, count] of counts) {
    const group = toKey(key);
    if (group !== undefined) sums.set(group, (sums.get(group) ?? 0) + count);
  }
  return sums;
}
