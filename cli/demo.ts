// `npm run demo`: creates, refreshes and deletes the demo project of a running service.
import { env } from 'node:process';
import { type DemoArguments, HELP, OPTIONS, parseDemoArguments } from '../src/demo/arguments.js';
import { createDemo, type Demo, type DemoDeps, DemoExists, deleteDemo } from '../src/demo/create-demo.js';
import { generateShop } from '../src/demo/generate.js';
import { type DemoProgress, sendShop } from '../src/demo/send-shop.js';
import { readStandalone } from '../src/imports/target.js';
import { describeFailure } from '../src/platform/command-failure.js';
import { type Config, dataDirectory, readOperatorConfig } from '../src/platform/config.js';
import { messageOf } from '../src/platform/errors.js';
import { EXIT_FAILED, EXIT_INTERRUPTED, EXIT_USAGE } from '../src/platform/exit-status.js';
import { isUuid, type OrganizationId, toOrganizationId } from '../src/platform/ids.js';
import { createInterruptSignal } from '../src/platform/interrupt.js';
import { createPostgres, type Postgres } from '../src/platform/postgres/client.js';
import { formatCount, formatRemaining, ProgressDisplay, toCells } from '../src/platform/progress.js';
import { refuseOptionsOfNpm, UsageError } from '../src/platform/usage-error.js';

const ACTOR = { kind: 'operator', id: 'npm run demo' } as const;
const LIBRARY = 'service-demo/1';

const interrupted = createInterruptSignal();
const display = new ProgressDisplay(process.stderr);

let config: Config | undefined;

async function run(): Promise<void> {
  refuseOptionsOfNpm(OPTIONS, env);
  const args = parseDemoArguments(process.argv.slice(2));
  if (args.kind === 'help') {
    process.stdout.write(HELP);
    return;
  }
  config = readOperatorConfig();
  const postgres = createPostgres(config, { poolMax: 2 });
  try {
    const organizationId = await findOrganization(postgres, args.organization);
    if (args.kind !== 'create') await remove({ postgres }, organizationId);
    if (args.kind === 'delete') return;
    const deps: DemoDeps = {
      ...{ postgres, secretKeyBase: config.SECRET_KEY_BASE, quotas: config, url: await findUrl(args) },
      send: (shop, service, onProgress) => sendShop(generateShop(shop), service, onProgress),
    };
    await create(deps, organizationId, args);
  } finally {
    await postgres.destroy();
  }
}

async function create(deps: DemoDeps, organizationId: OrganizationId, args: DemoArguments): Promise<void> {
  const startedMs = performance.now();
  const demo = await createDemo(deps, {
    ...{ organizationId, actor: ACTOR, library: LIBRARY, nowMs: Date.now(), signal: interrupted },
    ...{ people: args.people, seed: args.seed },
    onProgress: (progress) => show(progress, performance.now() - startedMs),
  });
  display.clear();
  process.stdout.write(toReport(demo, { url: deps.url, seconds: (performance.now() - startedMs) / 1000 }));
}

async function remove(deps: Pick<DemoDeps, 'postgres'>, organizationId: OrganizationId): Promise<void> {
  const project = await deleteDemo(deps, { organizationId, actor: ACTOR });
  const text =
    project === undefined
      ? 'there is no demo project'
      : `deleted the project "${project.name}" (${project.id}); the service removes its data within the hour`;
  process.stdout.write(`${text}\n`);
}

/** The given organization, else the one that `npm start` created. */
async function findOrganization(postgres: Postgres, given: string | undefined): Promise<OrganizationId> {
  if (given !== undefined && !isUuid(given)) throw new UsageError(`--organization is not an id: "${given}"`);
  const where = given === undefined ? { is_standalone: true } : { id: given };
  const row: { id: string } | undefined = await postgres('organizations').where(where).orderBy('id').first('id');
  if (row !== undefined) return toOrganizationId(row.id);
  throw new UsageError(
    given === undefined
      ? 'no organization was created by npm start here; give --organization'
      : `there is no organization ${given}`,
  );
}

const findUrl = async ({ url }: DemoArguments): Promise<string> =>
  url ?? (env.SERVICE_URL || (await readStandalone(dataDirectory())).url);

function show({ events, users, share }: DemoProgress, elapsedMs: number): void {
  const toStatus = (): string => {
    const rate = formatCount(Math.round((events * 1000) / Math.max(elapsedMs, 1)));
    const percent = `${Math.floor(share * 100)} %`.padStart(5);
    return `${percent}  ${formatCount(events)} events  ${rate} events/s  ${formatCount(users)} users${formatRemaining(share, elapsedMs)}`;
  };
  display.show(elapsedMs, { toStatus, toBar: () => `${toCells(share)} ${toStatus()}` });
}

function toReport(demo: Demo, { url, seconds }: { readonly url: string; readonly seconds: number }): string {
  const rate = formatCount(Math.round(demo.events / seconds));
  const counts = `${formatCount(demo.events)} events and ${formatCount(demo.users)} devices of users`;
  const questions = demo.questions.map(({ question, q }) => `  ${question}\n    ${q}\n`);
  return [
    `The project "Demo shop" (${demo.projectId}) has ${counts}, created in ${seconds.toFixed(1)} s (${rate} events/s).\n`,
    `Dashboards: ${demo.dashboards.join(', ')}\n`,
    `Sign in at ${new URL('/login', url)}, choose the project, and ask:\n\n`,
    ...questions,
    '\nnpm run demo -- --delete removes it.\n',
  ].join('');
}

function fail(cause: unknown): void {
  display.clear();
  const { status, message } = explain(cause);
  process.stderr.write(`${message}\n`);
  process.exitCode = status;
}

function explain(cause: unknown): { status: number; message: string } {
  if (interrupted.aborted) {
    return {
      status: EXIT_INTERRUPTED,
      message: 'interrupted; the incomplete demo project is deleted: run the same command again',
    };
  }
  if (cause instanceof DemoExists) {
    const since = `${cause.message}, created ${cause.project.createdAt.toISOString().slice(0, 10)}`;
    const choices = 'npm run demo -- --refresh creates it again, --delete deletes it';
    return { status: EXIT_FAILED, message: `${since}\n${choices}` };
  }
  const message = describeFailure(cause, config) ?? messageOf(cause);
  return { status: cause instanceof UsageError ? EXIT_USAGE : EXIT_FAILED, message };
}

await run().catch(fail);
