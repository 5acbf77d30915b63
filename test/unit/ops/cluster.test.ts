// docker-compose.cluster.yml: checked against what the service does with replicas, because neither
// containers nor replicas can be run here.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { engineClause } from '../../../src/platform/clickhouse/migrate.js';
import { packageRoot } from '../../../src/platform/paths.js';
import { parseShardsCommand } from '../../../src/shards/arguments.js';

interface Service {
  readonly image?: string;
  readonly command?: string;
  readonly hostname?: string;
  readonly mem_limit?: string;
  readonly ports?: string[];
  readonly environment: Record<string, string>;
  readonly volumes?: string[];
  readonly depends_on?: Record<string, object>;
}

interface Compose {
  readonly services: Record<string, Service>;
  readonly volumes: Record<string, null>;
}

const read = (path: string): string => readFileSync(join(packageRoot, path), 'utf8');
const text = read('docker-compose.cluster.yml');
const { services, volumes } = parse(text, { merge: true }) as Compose;
const base = (parse(read('docker-compose.yml'), { merge: true }) as Compose).services;
const ofImage = (name: string) => Object.entries(services).filter(([, { image }]) => image?.includes(name));
const replicas = ofImage('clickhouse-server');
const keepers = ofImage('clickhouse-keeper');
const valuesOf = (xml: string, tag: string) =>
  [...xml.matchAll(new RegExp(`<${tag}>([^<]*)</${tag}>`, 'g'))].map(([, value]) => value);

test('two shards of two replicas each are added by the command of the service', () => {
  const added = Object.values(services).flatMap(({ command }) => command ?? []);
  const shards = added.map((command) => {
    const [node, script, ...args] = command.replaceAll(/\$\{\w+:\?\}/g, 'secret').split(' ');
    expect([node, script]).toEqual(['node', 'dist/cli/shards.js']);
    expect(existsSync(join(packageRoot, 'cli/shards.ts'))).toBe(true);
    const parsed = parseShardsCommand(args);
    return parsed.kind === 'add' ? parsed.urls.map((url) => new URL(url)) : [];
  });
  expect(shards.map((urls) => urls.length)).toEqual([2, 2]);
  expect(shards.flat().map(({ hostname }) => hostname)).toEqual(replicas.map(([name]) => name));
  for (const { port, username } of shards.flat()) expect([port, username]).toEqual(['8123', 'default']);
});

test('each replica has a name and a volume of its own, and the macro that its tables use', () => {
  expect(engineClause('ReplacingMergeTree', 'events', '', { shard: 2, isReplicated: true })).toContain("'{replica}'");
  const config = read('ops/clickhouse-server/replica.xml');
  expect(config).toContain('<macros>\n        <replica from_env="REPLICA"/>');
  expect(config).toContain('<interserver_http_host from_env="REPLICA"/>');
  expect(config).toContain('<password from_env="CLICKHOUSE_INTERSERVER_PASSWORD"/>');
  for (const [name, { hostname, environment, volumes: mounted = [], image, ports }] of replicas) {
    expect([hostname, environment.REPLICA]).toEqual([name, name]);
    expect(mounted[0]).toBe(`${name}:/var/lib/clickhouse`);
    expect(mounted.map((volume) => volume.split(':')[0])).toContain('./ops/clickhouse-server/replica.xml');
    expect(environment).toHaveProperty('CLICKHOUSE_PASSWORD');
    expect(image).toBe(base.clickhouse?.image);
    expect(ports).toBeUndefined();
  }
});

test('the replicas ask every Keeper, and the Keepers know each other', () => {
  const names = keepers.map(([name]) => name);
  expect(names).toHaveLength(3);
  const [asked, known] = [read('ops/clickhouse-server/replica.xml'), read('ops/clickhouse-server/keeper.xml')];
  expect(valuesOf(asked, 'host')).toEqual(names);
  expect(valuesOf(known, 'hostname')).toEqual(names);
  expect(new Set(valuesOf(asked, 'port'))).toEqual(new Set(valuesOf(known, 'tcp_port')));
  expect(known).toContain('<server_id from_env="KEEPER_ID"/>');
  const ids = keepers.map(([, { environment }]) => environment.KEEPER_ID);
  expect(ids).toEqual(valuesOf(known, 'id'));
  const places = ['log_storage_path', 'snapshot_storage_path'].flatMap((tag) => valuesOf(known, tag));
  for (const [name, { volumes: mounted = [] }] of keepers) {
    const [volume, place] = mounted[0]?.split(':') ?? [];
    expect(volume).toBe(name);
    for (const path of places) expect(path?.startsWith(`${place}/`)).toBe(true);
    expect(mounted[1]?.split(':')[0]).toBe('./ops/clickhouse-server/keeper.xml');
  }
});

test('every password is required, every volume declared, every file and service there', () => {
  const variables = [...text.matchAll(/\$\{([A-Z_]+)([^}]*)\}/g)];
  expect(new Set(variables.map(([, name]) => name))).toEqual(
    new Set([
      ...['POSTGRES', 'REDIS', 'CLICKHOUSE', 'CLICKHOUSE_INTERSERVER'].map((name) => `${name}_PASSWORD`),
      'SECRET_KEY_BASE',
    ]),
  );
  for (const [whole, , rest] of variables) expect(rest, whole).toMatch(/^:\?/);
  const named = new Set<string>();
  for (const [name, { volumes: mounted = [], depends_on = {}, mem_limit }] of Object.entries(services)) {
    expect(mem_limit, name).toMatch(/^\d+[mg]$/);
    for (const [source = ''] of mounted.map((volume) => volume.split(':'))) {
      if (source.startsWith('.')) expect(existsSync(join(packageRoot, source)), source).toBe(true);
      else named.add(source);
    }
    for (const other of Object.keys(depends_on)) expect({ ...base, ...services }, name).toHaveProperty(other);
  }
  expect(named).toEqual(new Set(Object.keys(volumes)));
});
