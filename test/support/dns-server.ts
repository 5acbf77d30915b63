// DNS server for tests with configurable TXT and address records, and failures.
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { type AddressInfo, isIPv6 } from 'node:net';
import { decode, encode } from 'dns-packet';

export interface TestDns {
  /** For DNS_SERVERS. */
  readonly address: string;
  /** By name. Other names are answered NXDOMAIN. */
  readonly records: Map<string, string[]>;
  /**
   * IPv4 and IPv6 addresses by name. A function is called for each lookup, so that answers may
   * change.
   */
  readonly addresses: Map<string, readonly string[] | (() => readonly string[])>;
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
  const addresses: TestDns['addresses'] = new Map();
  const failing = new Set<string>();
  socket.on('message', (message, from) => {
    if (dns.mode === 'silent') return;
    const { id, questions = [] } = decode(message);
    const name = questions[0]?.name ?? '';
    const isFailing = dns.mode === 'servfail' || failing.has(name);
    const type = questions[0]?.type;
    const found = isFailing ? undefined : type === 'TXT' ? records.get(name) : addressesOf(name, type);
    const answers = (found ?? []).map((data) => ({ type: type as 'TXT', name, ttl: 1, data }));
    const refusal = isFailing ? SERVFAIL : NXDOMAIN;
    const answer = { type: 'response' as const, ...(id !== undefined && { id }), questions, answers };
    socket.send(encode({ ...answer, flags: found === undefined ? refusal : 0 }), from.port, from.address);
  });
  function addressesOf(name: string, type: string | undefined): readonly string[] | undefined {
    const listed = addresses.get(name);
    const current = typeof listed === 'function' ? listed() : listed;
    return current?.filter((address) => isIPv6(address) === (type === 'AAAA'));
  }
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const { port } = socket.address() as AddressInfo;
  const dns: TestDns = {
    address: `127.0.0.1:${port}`,
    records,
    addresses,
    failing,
    mode: 'works',
    close: () => socket.close(),
  };
  return dns;
}
