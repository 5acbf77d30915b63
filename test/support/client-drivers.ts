// Drivers of the three clients with a common interface: the same calls, made by each client.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { buildBrowserScript } from '../../clients/browser/build.mjs';
import { Client } from '../../clients/node/src/client.js';
import { packageRoot } from '../../src/platform/paths.js';
import { type ScriptedServer, startScriptedServer } from './scripted-server.js';

export interface ClientCall {
  readonly call: string;
  // biome-ignore lint/suspicious/noExplicitAny: the arguments of any call.
  readonly [argument: string]: any;
}

export interface Outcome {
  /** Return values of the calls; 'refused' where one threw. */
  readonly results: readonly unknown[];
  /** Number of events or identifies reported as lost. */
  readonly lost: number;
  readonly server: ScriptedServer;
}

export interface Run {
  readonly calls: readonly ClientCall[];
  readonly key: string;
  /** Whether to flush; otherwise the client sends after ten events or two seconds. */
  readonly flush: boolean;
  readonly answers?: readonly { readonly status: number; readonly retry_after?: string }[];
}

export interface ClientDriver {
  readonly library: RegExp;
  run(run: Run): Promise<Outcome>;
}

const UNFLUSHED_WAIT_MS = 5000;
const PYTHON_CLIENT = join(packageRoot, 'clients', 'python');

async function startAnswering({ answers = [] }: Run): Promise<ScriptedServer> {
  const server = await startScriptedServer();
  for (const { status, retry_after: retryAfter } of answers) {
    server.answers.push({ status, headers: retryAfter === undefined ? {} : { 'Retry-After': retryAfter } });
  }
  return server;
}

export const nodeDriver: ClientDriver = {
  library: /^service-node\/\d/,
  run: async (run) => {
    const server = await startAnswering(run);
    let lost = 0;
    const client = new Client({
      key: run.key,
      host: server.url,
      onError: (_, count) => {
        lost += count;
      },
    });
    const results = run.calls.map((call) => callNode(client, call));
    if (run.flush) await client.flush();
    else await new Promise((resolve) => setTimeout(resolve, UNFLUSHED_WAIT_MS));
    return { results, lost, server };
  },
};

function callNode(client: Client, { call, ...args }: ClientCall): unknown {
  try {
    if (call === 'choice') return client.choice(args.key, args.variants, { device_id: 'd-1', ...args.options });
    if (call === 'identify') return client.identify(args as unknown as Parameters<Client['identify']>[0]);
    return client.track(args as unknown as Parameters<Client['track']>[0]);
  } catch (error) {
    if (error instanceof TypeError) return 'refused';
    throw error;
  }
}

export const pythonDriver: ClientDriver = {
  library: /^service-python\/\d/,
  run: async (run) => {
    const server = await startAnswering(run);
    return { ...(await runPython({ ...run, host: server.url })), server };
  },
};

/** Runs the calls in a separate Python process. */
export async function runPython(given: object): Promise<{ results: unknown[]; lost: number; seconds: number }> {
  const driver = join(packageRoot, 'test', 'support', 'client_driver.py');
  return JSON.parse(await outputOfPython([driver], JSON.stringify({ ...given, package: PYTHON_CLIENT })));
}

/** Output of a script that may import the Python client. */
export const runPythonScript = async (script: string): Promise<string> =>
  (await outputOfPython(['-'], `import sys; sys.path.insert(0, ${JSON.stringify(PYTHON_CLIENT)})\n${script}`)).trim();

async function outputOfPython(args: readonly string[], input: string): Promise<string> {
  const child = spawn('python3', args, { stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.end(input);
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  const status = await new Promise((resolve, reject) => child.once('error', reject).once('close', resolve));
  if (status !== 0) throw new Error(`the Python client ended with ${status}`);
  return output;
}

export function createBrowserDriver(browser: Browser): ClientDriver {
  const built = buildBrowserScript();
  return {
    library: /^service-js\/\d/,
    run: async (run) => {
      const server = await startAnswering(run);
      const { script } = await built;
      const tag = `<script data-key="${run.key}" data-host="${server.url}" data-auto="false">${script}</script>`;
      server.pages.set('/', `<!doctype html><link rel="icon" href="data:,">${tag}`);
      const context = await browser.newContext();
      try {
        const page = await context.newPage();
        await page.goto(server.url);
        await page.evaluate('window.problems = []; service.onError = (problem) => { problems.push(problem); }; 1');
        // In one message, because the script may send between two messages to the browser.
        const results = await page.evaluate<unknown[]>(`Promise.all([${run.calls.map(spell).join(', ')}])`);
        if (run.flush) await page.evaluate('service.flush()');
        else await page.waitForTimeout(UNFLUSHED_WAIT_MS);
        const problems = await page.evaluate<unknown[]>('problems');
        const refused = problems.filter((problem) => problem === 'no id').length;
        return { results: [...results, ...Array(refused).fill('refused')], lost: problems.length - refused, server };
      } finally {
        await context.close();
      }
    },
  };
}

/** The call as JavaScript source. */
function spell({ call, ...args }: ClientCall): string {
  const given =
    call === 'track'
      ? [args.event_type, args.event_properties, args.user_properties]
      : call === 'identify'
        ? [args.user_id, args.user_properties, args.user_property_ops]
        : [args.key, args.variants, args.options];
  return `service.${call}(${given.map((value) => JSON.stringify(value) ?? 'undefined')})`;
}
