// Dockerfile, compose file and ops/: checked against the settings, commands, files and metrics that
// they name, because no container engine is available here.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { packageRoot } from '../../../src/platform/paths.js';
import { METRICS_PORT } from '../../../standalone/metrics-server.js';
import { parseProcfile } from '../../../standalone/procfile.js';
import { readAlerts, readPanels, selectorsOf } from '../../support/prometheus.js';

const read = (path: string): string => readFileSync(join(packageRoot, path), 'utf8');
const settings = new Set([...read('.env.example').matchAll(/^([A-Z_]+)=/gm)].map(([, name]) => name));

interface ComposeService {
  readonly command?: string | string[];
  readonly image?: string;
  readonly build?: string;
  readonly mem_limit?: string;
  readonly healthcheck?: object;
  readonly environment?: Record<string, string>;
  readonly volumes?: string[];
  readonly depends_on?: Record<string, object> | string[];
}

const compose = parse(read('docker-compose.yml'), { merge: true }) as { services: Record<string, ComposeService> };
const own = Object.entries(compose.services).filter(([, service]) => service.build !== undefined);

test('every service of docker-compose.yml has a memory limit and a health check', () => {
  for (const [name, service] of Object.entries(compose.services)) {
    expect(service.mem_limit, name).toMatch(/^\d+[mg]$/);
    if (name !== 'migrate') expect(service.healthcheck, name).toBeDefined();
  }
});

test('every store and Grafana in docker-compose.yml requires a password without a default', () => {
  const variables = [...read('docker-compose.yml').matchAll(/(?<!\$)\$\{([A-Z_]+)([^}]*)\}/g)];
  expect(new Set(variables.map(([, name]) => name))).toEqual(
    new Set([...['POSTGRES', 'REDIS', 'CLICKHOUSE', 'GRAFANA'].map((name) => `${name}_PASSWORD`), 'SECRET_KEY_BASE']),
  );
  for (const [whole, , rest] of variables) expect(rest, whole).toMatch(/^:\?/);
  const { redis, grafana, postgres, clickhouse } = compose.services;
  expect(JSON.stringify(redis?.command)).toContain('requirepass $$REDIS_PASSWORD');
  expect(grafana?.environment).toHaveProperty('GF_SECURITY_ADMIN_PASSWORD');
  expect(postgres?.environment).toHaveProperty('POSTGRES_PASSWORD');
  expect(clickhouse?.environment).toHaveProperty('CLICKHOUSE_PASSWORD');
});

test('the image has the files that its npm commands run', () => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
  const copied = [...read('Dockerfile').matchAll(/^COPY --from=build \/app\/(\w+) /gm)].map(([, folder]) => folder);
  for (const name of ['migrate', 'doctor', 'jobs', 'shards', 'invite', 'import', 'demo']) {
    const files = scripts[name]?.match(/\S+\.m?js/g) ?? [];
    expect(files, name).toHaveLength(2);
    for (const file of files) expect(copied, `${name}: ${file}`).toContain(file.split('/')[0]);
  }
});

test("the service's containers run the commands of the Procfile with existing settings", () => {
  const commands = parseProcfile(read('Procfile')).map(({ args }) => args.at(-1));
  const dockerfileCommand = /^CMD (.*)$/m.exec(read('Dockerfile'))?.[1] ?? '[]';
  const image = (JSON.parse(dockerfileCommand) as string[]).at(-1);
  const run = own.map(
    ([, service]) => (typeof service.command === 'string' ? service.command.split(' ').at(-1) : undefined) ?? image,
  );
  expect(run.sort()).toEqual(commands.sort());
  for (const [name, service] of own) {
    for (const setting of Object.keys(service.environment ?? {}))
      expect(settings, `${name}: ${setting}`).toContain(setting);
  }
});

test('every file and service that docker-compose.yml and the Dockerfile name exists', () => {
  for (const [name, service] of Object.entries(compose.services)) {
    for (const volume of service.volumes ?? []) {
      const source = volume.split(':')[0] ?? '';
      if (source.startsWith('.')) expect(existsSync(join(packageRoot, source)), `${name}: ${source}`).toBe(true);
    }
    const waitedFor = Array.isArray(service.depends_on) ? service.depends_on : Object.keys(service.depends_on ?? {});
    for (const other of waitedFor) expect(compose.services, name).toHaveProperty(other);
  }
  const copied = [...read('Dockerfile').matchAll(/^COPY (?!--from)(.*) \S+$/gm)].flatMap(
    ([, names]) => names?.split(' ') ?? [],
  );
  for (const source of copied) expect(existsSync(join(packageRoot, source)), source).toBe(true);
});

test('app.json names existing settings', () => {
  const { env } = JSON.parse(read('app.json')) as { env: Record<string, object> };
  for (const setting of Object.keys(env)) expect(settings).toContain(setting);
});

interface ScrapeConfig {
  readonly static_configs: readonly { targets: string[]; labels: { process: string; __metrics_path__?: string } }[];
}

const scrapesOf = (file: string) =>
  (parse(read(file)) as { scrape_configs: ScrapeConfig[] }).scrape_configs.flatMap((config) => config.static_configs);

test('Prometheus scrapes the addresses of the services', () => {
  for (const { targets, labels } of scrapesOf('ops/prometheus/prometheus.yml')) {
    const environment = compose.services[labels.process]?.environment ?? {};
    const port = { web: '8080', query: '8081', worker: String(environment.WORKER_PORT) }[labels.process];
    expect(targets).toEqual([`${labels.process}:${port}`]);
  }
});

test('Prometheus scrapes the processes of npm start at its default address', () => {
  const processes = parseProcfile(read('Procfile')).filter(({ name }) => name !== 'release');
  expect(scrapesOf('ops/prometheus/standalone.yml')).toEqual(
    processes.map(({ name }) => ({
      targets: [`127.0.0.1:${METRICS_PORT}`],
      labels: { process: name, __metrics_path__: `/metrics/${name}` },
    })),
  );
});

const OF_PROM_CLIENT = ['process_resident_memory_bytes', 'process_cpu_seconds_total'];

test('every alert and panel uses exported series, and every named runbook exists', () => {
  const sources = ['src', 'workers'].flatMap((folder) =>
    readdirSync(join(packageRoot, folder), { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
  );
  const text = sources
    .filter((name) => name.endsWith('.ts'))
    .map(read)
    .join('\n');
  const exported = new Set([...text.matchAll(/name: '([a-z0-9_]+)',\s+help\b/g)].map(([, name]) => name));
  const alerts = readAlerts();
  for (const { alert, annotations } of alerts)
    expect(existsSync(join(packageRoot, annotations.runbook)), alert).toBe(true);
  const asked = [...alerts, ...readPanels()].flatMap(({ expr }) =>
    selectorsOf(expr).map(({ name }) => name.replace(/_(bucket|sum|count)$/, '')),
  );
  expect(asked.length).toBeGreaterThan(20);
  for (const name of asked) expect([...exported, ...OF_PROM_CLIENT]).toContain(name);
});
