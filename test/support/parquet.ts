// Parquet from JSON lines, as batch exports of PostHog write it: times as timestamps, properties as
// text. The fixture posthog.parquet was made from posthog.ndjson by it, with the program zstd.
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { parquetWriteBuffer } from 'hyparquet-writer';

type Options = Pick<Parameters<typeof parquetWriteBuffer>[0], 'codec' | 'compressors' | 'rowGroupSize'>;

const TIMES: ReadonlySet<string> = new Set(['timestamp', 'created_at', '_inserted_at']);

const COMPRESSORS = {
  GZIP: (bytes: Uint8Array) => gzipSync(bytes),
  BROTLI: (bytes: Uint8Array) => brotliCompressSync(bytes),
};

/** Lines that are no JSON are left out. */
export function toParquet(lines: string, options: Options): Buffer {
  const rows = lines.split('\n').flatMap(tryParse);
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const columnData = names.map((name) => {
    const values = rows.map((row) => row[name]);
    if (TIMES.has(name)) return { name, type: 'TIMESTAMP' as const, data: values.map(toDate) };
    if (name === 'team_id') return { name, type: 'INT64' as const, data: values.map(toBigInt) };
    return { name, type: 'STRING' as const, data: values.map(toText) };
  });
  return Buffer.from(parquetWriteBuffer({ columnData, compressors: COMPRESSORS, ...options }));
}

function tryParse(line: string): readonly Record<string, unknown>[] {
  try {
    return [JSON.parse(line) as Record<string, unknown>];
  } catch {
    return [];
  }
}

function toDate(value: unknown): Date | undefined {
  if (typeof value !== 'string') return undefined;
  return new Date(/Z$/.test(value) ? value : `${value.replace(' ', 'T')}Z`);
}

const toBigInt = (value: unknown): bigint | undefined => (typeof value === 'number' ? BigInt(value) : undefined);

const toText = (value: unknown): string | undefined =>
  value === undefined || typeof value === 'string' ? value : JSON.stringify(value);
