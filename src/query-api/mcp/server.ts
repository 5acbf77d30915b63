// The MCP server of one request: the tools, resources and prompts that the scopes of its token
// allow. The descriptions of the tools are all that many models read, so they hold the language in
// short; tools/list stays below 1,500 tokens, which a test counts.
import { McpServer } from '@modelcontextprotocol/server';
import type { Scope } from '../../access/roles.js';
import { toLlmsText } from '../../llms/llms-text.js';
import type { Call, ToolDeps } from './call.js';
import { dashboardsInput, saveDashboard, saveInput, showDashboards } from './dashboard-tools.js';
import { addDashboardPrompts, addQueryPrompts } from './prompts.js';
import { checkInput, queryInput, runCheck, runQuery } from './query-tools.js';
import { schemaInput, showSchema } from './schema-tool.js';
import { runTool, type ToolAnswer, toResult } from './tool-answer.js';
import { toolInput } from './tool-input.js';

export interface ServerDeps extends ToolDeps {
  /** FEATURES_OFF. */
  readonly featuresOff: readonly string[];
  readonly countCall: (tool: string, outcome: ToolAnswer['outcome']) => void;
}

const INFO = { name: 'event-analytics', title: 'Event Analytics Service', version: '0.1.0' };

const INSTRUCTIONS =
  'Product analytics of one project. Call schema first: names of events and properties must not be guessed. ' +
  'The resource analytics://language has the whole query language.';

const LANGUAGE = `Runs a query: \`source | stage | stage\`.
Sources: an event (signup), any of several (signup, trial), with conditions page_view[_path = "/"], * for all; funnel a -> b -> c; retention a returning b by week; sessions; lifecycle a by week; stickiness a; paths from a; users; user "id"; formula count(a) / unique(b) as name; choice KEY | results a; metric NAME (defined); inspect a.
Stages: where FIELD = "text" (also != < <= > >= contains ~ in (…) exists; and or not), where count(a last 30d) >= 3; last 7d (m h d w mo y), this month, last week, from 2026-01-01 to 2026-02-01; count, unique (people), sum FIELD (avg min max median p90 p95 p99), each with by FIELD, day (hour week month weekday …); by FIELD; top 10; sort COLUMN desc; limit 10; list FIELD; compare previous; rolling 7d; share; window 7d (of a funnel).
Fields: _path _country _platform _browser _referrer_domain, event_properties.KEY, user.KEY (profile), session.KEY.
Examples:
purchase | last 30d | sum event_properties.price by week, user.plan
funnel page_view -> signup -> purchase | last 30d | window 7d | by _platform
* | last 12w | unique by week | compare previous
Without a range: the last 7 days.`;

const INPUTS = {
  schema: toolInput(schemaInput),
  query: toolInput(queryInput),
  check: toolInput(checkInput),
  dashboards: toolInput(dashboardsInput),
  save: toolInput(saveInput),
};

const READS = { readOnlyHint: true } as const;

export function createAgentServer(deps: ServerDeps, call: Call): McpServer {
  const server = new McpServer(INFO, { instructions: INSTRUCTIONS });
  if (allows(deps, call, 'query')) addQueryTools(server, deps, call);
  if (allows(deps, call, 'dashboards')) addDashboardTools(server, deps, call);
  return server;
}

/** By the scopes of the token, and the features of this installation. */
const allows = ({ featuresOff }: ServerDeps, { credential }: Call, scope: Scope): boolean =>
  credential.scopes.has(scope) && !featuresOff.includes(scope);

type Run<Input> = (deps: ServerDeps, call: Call, input: Input) => Promise<string>;

/** The handler of a tool, which counts its calls. */
const handlerOf =
  <Input>(deps: ServerDeps, call: Call, { name, run }: { readonly name: string; readonly run: Run<Input> }) =>
  async (input: Input) => {
    const answer = await runTool(deps.log, () => run(deps, call, input));
    deps.countCall(name, answer.outcome);
    return toResult(answer);
  };

function addQueryTools(server: McpServer, deps: ServerDeps, call: Call): void {
  server.registerTool(
    'schema',
    {
      description:
        'What is recorded: events with counts; properties of an event; types and frequent values of a field; definitions. Call it before writing a query.',
      inputSchema: INPUTS.schema,
      annotations: READS,
    },
    handlerOf(deps, call, { name: 'schema', run: showSchema }),
  );
  server.registerTool(
    'query',
    { description: LANGUAGE, inputSchema: INPUTS.query, annotations: READS },
    handlerOf(deps, call, { name: 'query', run: runQuery }),
  );
  server.registerTool(
    'check',
    {
      description: 'Checks a query without running it: problems with place and fix, or period and columns.',
      inputSchema: INPUTS.check,
      annotations: READS,
    },
    handlerOf(deps, call, { name: 'check', run: runCheck }),
  );
  addResources(server, deps, call);
  addQueryPrompts(server);
}

function addResources(server: McpServer, deps: ServerDeps, call: Call): void {
  server.registerResource(
    'language',
    'analytics://language',
    { description: 'The query language', mimeType: 'text/markdown' },
    ({ href: uri }) => ({ contents: [{ uri, mimeType: 'text/markdown', text: LLMS_TEXT }] }),
  );
  server.registerResource(
    'schema',
    'analytics://schema',
    { description: 'Events, properties and frequent values of the project', mimeType: 'text/markdown' },
    async ({ href: uri }) => {
      const { text, outcome } = await runTool(deps.log, () => showSchema(deps, call, schemaInput.parse({})));
      // The SDK answers the message of an error as it is.
      if (outcome !== 'ok') throw new Error(text);
      return { contents: [{ uri, mimeType: 'text/markdown', text }] };
    },
  );
}

const LLMS_TEXT = toLlmsText();

function addDashboardTools(server: McpServer, deps: ServerDeps, call: Call): void {
  server.registerTool(
    'dashboards',
    {
      description: 'Lists dashboards; with key, reads one as YAML.',
      inputSchema: INPUTS.dashboards,
      annotations: READS,
    },
    handlerOf(deps, call, { name: 'dashboards', run: showDashboards }),
  );
  server.registerTool(
    'save_dashboard',
    {
      description: 'Creates or changes a dashboard from YAML, as dashboards shows it. Use dry_run first.',
      inputSchema: INPUTS.save,
      annotations: { destructiveHint: false },
    },
    handlerOf(deps, call, { name: 'save_dashboard', run: saveDashboard }),
  );
  addDashboardPrompts(server);
}
