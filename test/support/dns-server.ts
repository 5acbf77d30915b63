// DNS server for tests with configurable TXT records and failures.
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { decode, encode } from 'dns-packet';

export interface TestDns {
  /** For DNS_SERVERS. */
  readonly address: string;
  /** By name. Other names are answered NXDOMAIN. */
  readonly records: Map<string, string[]>;
  /** Names that are answered SERVFAIL. */
  readonly failing: Set<string>;
  /** `silent` sends no answer, `servfail` answers SERVFAIL. */
  mode: 'works' | 'silent' | 'servfail';
  close(): void;
}

const SERVFAIL = 2;
const NXDOMAIN = 3;

export async function startDns(): Promise<TestDns> {
  const socket = createSocket('udp4');
  const records = new Map<string, string[]>();
  const failing = new Set<string>();
  socket.on('message', (message, from) => {
    if (dns.mode === 'silent') return;
    const { id, questions = [] } = decode(message);
    const name = questions[0]?.name ?? '';
    const isFailing = dns.mode === 'servfail' || failing.has(name);
    const texts = isFailing ? undefined : records.get(name);
    const answers = (texts ?? []).map((data) => ({ type: 'TXT' as const, name, ttl: 1, data }));
    const refusal = isFailing ? SERVFAIL : NXDOMAIN;
    const answer = { type: 'response' as const, ...(id !== undefined && { id }), questions, answers };
    socket.send(encode({ ...answer, flags: texts === undefined ? refusal : 0 }), from.port, from.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const { port } = socket.address() as AddressInfo;
  const dns: TestDns = { address: `127.0.0.1:${port}`, records, failing, mode: 'works', close: () => socket.close() };
  return dns;
}
