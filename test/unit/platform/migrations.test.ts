// Statements of ClickHouse migrations for one server and for replicas.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { engineClause, toStatements } from '../../../src/platform/clickhouse/migrate.js';
import { packageRoot } from '../../../src/platform/paths.js';

const FOLDER = join(packageRoot, 'ops', 'clickhouse');

const enginesOf = (layout: { shard: number; isReplicated: boolean }): string[] =>
  readdirSync(FOLDER)
    .flatMap((name) => toStatements(readFileSync(join(FOLDER, name), 'utf8'), layout))
    .flatMap((statement) => statement.match(/ENGINE = (.*)/)?.[1] ?? []);

test('tables of one server are not replicated', () => {
  expect(enginesOf({ shard: 1, isReplicated: false })).toEqual([
    'ReplacingMergeTree',
    'Null',
    'ReplacingMergeTree(updated_at)',
    'ReplacingMergeTree(version, deleted)',
  ]);
});

test('tables of replicas have a path of their shard and table, and the macro of their replica', () => {
  expect(enginesOf({ shard: 2, isReplicated: true })).toEqual([
    "ReplicatedReplacingMergeTree('/clickhouse/tables/2/events', '{replica}')",
    'Null',
    "ReplicatedReplacingMergeTree('/clickhouse/tables/2/device_map', '{replica}', updated_at)",
    "ReplicatedReplacingMergeTree('/clickhouse/tables/2/profiles', '{replica}', version, deleted)",
  ]);
  expect(engineClause('MergeTree', 't', '', { shard: 3, isReplicated: true })).toBe(
    "ReplicatedMergeTree('/clickhouse/tables/3/t', '{replica}')",
  );
});

test('replicas keep empty parts, which their reads need', () => {
  const statementsOf = (isReplicated: boolean): string[] =>
    toStatements(readFileSync(join(FOLDER, '0009_empty_parts.sql'), 'utf8'), { shard: 2, isReplicated });
  expect(statementsOf(true)).toEqual(
    ['events', 'device_map', 'profiles'].map((table) => `ALTER TABLE ${table} MODIFY SETTING remove_empty_parts = 0`),
  );
  expect(statementsOf(false)).toEqual([]);
});
