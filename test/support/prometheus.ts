// The alerts and panels of ops/, what they need to have data, and a real Prometheus that evaluates
// them.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { packageRoot } from '../../src/platform/paths.js';
import { takePort } from './take-port.js';

export const PROMETHEUS_FOLDER = join(packageRoot, 'ops', 'prometheus');

export interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly annotations: { readonly runbook: string };
}

export function readAlerts(): Alert[] {
  const rules = parse(readFileSync(join(PROMETHEUS_FOLDER, 'alerts.yml'), 'utf8')) as { groups: { rules: Alert[] }[] };
  return rules.groups.flatMap((group) => group.rules);
}

export function readPanels(): { readonly title: string; readonly expr: string }[] {
  const file = join(packageRoot, 'ops', 'grafana', 'dashboards', 'event-analytics.json');
  const { panels } = JSON.parse(readFileSync(file, 'utf8')) as {
    panels: { title: string; targets: { expr: string }[] }[];
  };
  return panels.flatMap(({ title, targets }) => targets.map(({ expr }) => ({ title, expr })));
}

/**
 * The part of an alert that has a value on a healthy service too: without its comparison, and
 * without absent().
 */
export const toMeasurement = (expr: string): string =>
  expr.replace(/^absent\((.*)\)$/, '$1').replace(/\s*(?:>|<|==)\s*[\d.]+\s*$/, '');

export interface Selector {
  readonly name: string;
  readonly labels: readonly string[];
}

/** Labels that Prometheus itself adds. */
const ADDED_LABELS = ['job', 'process', 'instance'];

/**
 * The series of an expression with the labels that it matches. Words in front of a bracket are
 * functions; `up` is Prometheus's own.
 */
export const selectorsOf = (expr: string): Selector[] =>
  [...expr.matchAll(/\b([a-z]+(?:_[a-z0-9]+)+)\b(?!\s*\()(?:\{([^}]*)\})?/g)].map(([, name = '', matchers = '']) => ({
    name,
    labels: [...matchers.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)]
      .map(([, label = '']) => label)
      .filter((label) => !ADDED_LABELS.includes(label)),
  }));

/** Whether a page of /metrics has a sample of the series with these labels. */
export const hasSample = (page: string, { name, labels }: Selector): boolean =>
  page
    .split('\n')
    .some(
      (line) =>
        new RegExp(`^${name}[{ ]`).test(line) && labels.every((label) => new RegExp(`[{,]${label}="`).test(line)),
    );

export interface Prometheus {
  readonly configFile: string;
  /** The samples of an expression now. */
  evaluate(expression: string): Promise<{ metric: Record<string, string>; value: [number, string] }[]>;
  stop(): Promise<void>;
}

/**
 * Runs the program with a configuration of ops/prometheus, scraping every second. Resolves with
 * undefined when it is not installed.
 */
export async function tryStartPrometheus(
  configName: string,
  replaceAddresses: (config: string) => string,
): Promise<Prometheus | undefined> {
  const folder = mkdtempSync(join(tmpdir(), 'event-analytics-prometheus-'));
  const configFile = join(folder, configName);
  const config = readFileSync(join(PROMETHEUS_FOLDER, configName), 'utf8')
    .replace('15s', '1s')
    .replace('[alerts.yml]', `[${join(PROMETHEUS_FOLDER, 'alerts.yml')}]`);
  writeFileSync(configFile, replaceAddresses(config));
  const port = await takePort();
  const storage = `--storage.tsdb.path=${join(folder, 'data')}`;
  const options = [`--config.file=${configFile}`, storage, `--web.listen-address=127.0.0.1:${port}`];
  const child = spawn('prometheus', options, { stdio: 'ignore' });
  const isStarted = await new Promise<boolean>((resolve) => {
    child.once('spawn', () => resolve(true));
    child.once('error', () => resolve(false));
  });
  if (!isStarted) {
    rmSync(folder, { recursive: true });
    return undefined;
  }
  return {
    configFile,
    evaluate: async (expression) => {
      const query = `http://127.0.0.1:${port}/api/v1/query?query=${encodeURIComponent(expression)}`;
      return ((await (await fetch(query)).json()) as { data: { result: [] } }).data.result;
    },
    stop: async () => {
      await end(child);
      rmSync(folder, { recursive: true });
    },
  };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill();
  await ended;
}
