// An insert that a proxy in front of ClickHouse refuses: the error names the answer of the proxy.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { type ClickHouseClient, createClickHouse } from '../../../../src/platform/clickhouse/client.js';
import { insertWithQueryIdLock } from '../../../../src/platform/clickhouse/query-id-lock.js';

let server: Server;
let clickhouse: ClickHouseClient;

afterEach(async () => {
  await clickhouse.close();
  server.close();
});

async function insertInto(status: number, body: string): Promise<void> {
  server = createServer((req, res) => void req.resume().on('end', () => res.writeHead(status).end(body)));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  clickhouse = createClickHouse({ CLICKHOUSE_URL: url, CLICKHOUSE_DATABASE: 'default' });
  await insertWithQueryIdLock(clickhouse, { table: 'events', bytes: Buffer.from('rows'), queryId: 'ingest-1' });
}

test('a page of a proxy is named by its title', async () => {
  const page = '<html>\r\n<head><title>413 Request Entity Too Large</title></head>\r\n<body></body></html>';
  const refused = insertInto(413, page);
  await expect(refused).rejects.toThrow('a proxy in front of ClickHouse answered "413 Request Entity Too Large"');
});

test('an error of ClickHouse keeps its message', async () => {
  const message = 'Code: 60. DB::Exception: Table default.events does not exist. (UNKNOWN_TABLE) (version 26.7)';
  await expect(insertInto(404, message)).rejects.toThrow('Table default.events does not exist');
});
