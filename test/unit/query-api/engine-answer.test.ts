// Answers of ClickHouse that end too early, as they do when its disk is full.
import { Readable } from 'node:stream';
import type { ResultSet } from '@clickhouse/client';
import { expect, test } from 'vitest';
import { readBytes } from '../../../src/query-api/engine-answer.js';

const ANSWER = `{
	"meta":
	[
		{
			"name": "n",
			"type": "UInt64"
		}
	],

	"data":
	[
		[7]
	],

	"rows": 1,

	"rows_before_limit_at_least": 3,

	"statistics":
	{
		"elapsed": 0.01,
		"rows_read": 9,
		"bytes_read": 72
	}
}
`;

const read = (body: string) =>
  readBytes({ _stream: Readable.from([Buffer.from(body)]) } as unknown as ResultSet<'JSONCompact'>);

test('a complete answer has its counts', async () => {
  await expect(read(ANSWER)).resolves.toMatchObject({ rowCount: 1, rowsBeforeLimit: 3, rowsScanned: 9 });
});

test.each([
  ['nothing', 0],
  ['a part that ends with a brace', ANSWER.indexOf('}') + 1],
  ['its rows without the counts', ANSWER.indexOf('"rows"')],
  ['its counts without their end', ANSWER.indexOf('"elapsed"')],
])('an answer of which only %s arrives is an unavailable engine', async (_, length) => {
  await expect(read(ANSWER.slice(0, length))).rejects.toMatchObject({ status: 503, kind: 'unavailable' });
});
