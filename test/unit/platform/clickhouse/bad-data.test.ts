// Which failures of an insert are those of its rows.
import { ClickHouseError } from '@clickhouse/client';
import { expect, test } from 'vitest';
import { isBadData } from '../../../../src/platform/clickhouse/failures.js';

const cannotReadAll = (message: string) => new ClickHouseError({ code: '33', type: 'CANNOT_READ_ALL_DATA', message });

test('rows that end too early are bad data, and stored ones that the view cannot read are not', () => {
  expect(isBadData(cannotReadAll('Cannot read all data. Bytes read: 3. Bytes expected: 8.: (at row 1)'))).toBe(true);
  const stored =
    'Cannot read all data in MergeTreeReaderCompact. Rows read: 0. Rows expected: 3001: (while reading column project_id): (while reading from part /mnt/store/store/38d/202612_11_11_1 in table analytics.events)';
  expect(isBadData(cannotReadAll(stored))).toBe(false);
});
