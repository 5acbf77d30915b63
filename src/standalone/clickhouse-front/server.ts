// The ClickHouse HTTP interface, as far as @clickhouse/client uses it, over the embedded engine. Loopback only, so user
// names and passwords are accepted and ignored.
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Logger } from '../../platform/log.js';
import type { Engine } from './engine.js';
import { engineError, toEngineError, UNKNOWN_EXCEPTION } from './engine-error.js';
import { insertRows } from './insert.js';
import { answerRead } from './read.js';
import { type EngineRequest, readEngineRequest } from './request.js';
import type { RunningQueries, RunningQuery } from './running-queries.js';
import { type EngineSession, quoted } from './session.js';
import { parseStatement, type Statement } from './statement.js';

// As the server's http_max_uri_size: parameters travel in the URL.
const URL_BYTES_MAX = 1024 * 1024;

interface Front {
  /** Undefined while it opens. */
  readonly findEngine: () => Engine | undefined;
  readonly running: RunningQueries;
  readonly log: Logger;
}

export function createFrontServer(front: Front): Server {
  return createServer({ maxHeaderSize: URL_BYTES_MAX }, (request, response) => {
    answer(front, request, response).catch((error: unknown) => answerError(front.log, response, error));
  });
}

async function answer(front: Front, message: IncomingMessage, response: ServerResponse): Promise<void> {
  const engine = front.findEngine();
  if (engine === undefined) throw engineError('CANNOT_SCHEDULE_TASK', 'the embedded engine is still opening its data');
  const path = message.url?.split('?')[0];
  if (path === '/ping' || (message.method === 'GET' && message.url === '/')) {
    response.end('Ok.\n');
    return;
  }
  const request = await readEngineRequest(message);
  const statement = parseStatement(request.sql);
  if (statement.kind === 'kill') return answerKill({ front, engine, request, statement, response });

  const query = front.running.start({
    id: request.queryId || randomUUID(),
    sql: request.sql,
    isRead: statement.kind === 'read',
  });
  response.setHeader('X-ClickHouse-Query-Id', query.id);
  try {
    response.once('close', () => {
      if (!response.writableFinished) query.abandon(engine).catch((error) => front.log.error(error, 'not stopped'));
    });
    await run({ engine, query, request, statement, response });
  } finally {
    query.end();
  }
}

async function run(options: {
  engine: Engine;
  query: RunningQuery;
  request: EngineRequest;
  statement: Statement;
  response: ServerResponse;
}): Promise<void> {
  const { engine, query, request, statement, response } = options;
  await engine.withSession(request, async (session) => {
    query.startOn(session);
    if (statement.kind === 'read') return answerRead({ session, request, statement, response });
    if (statement.kind === 'insert') {
      if (request.body !== undefined) await insertRows({ engine, session, statement, rows: request.body });
      response.end();
      return;
    }
    await answerOther(session, request, response);
  });
}

/** DDL, mutations, inserts with their rows in the statement. */
async function answerOther(session: EngineSession, request: EngineRequest, response: ServerResponse): Promise<void> {
  const sql = request.body === undefined ? request.sql : `${request.sql}\n${request.body.toString('utf8')}`;
  const result = await session.chdb.queryAsync(sql, { format: request.defaultFormat });
  response.end(result.bytes());
}

async function answerKill(options: {
  front: Front;
  engine: Engine;
  request: EngineRequest;
  statement: Extract<Statement, { kind: 'kill' }>;
  response: ServerResponse;
}): Promise<void> {
  const { front, engine, request, statement, response } = options;
  const id = statement.isParameter ? (request.parameters.get(statement.queryId) ?? '') : statement.queryId;
  const query = front.running.find(id);
  const stopped = query?.stop(engine);
  if (statement.sync) await stopped;
  else stopped?.catch((error: unknown) => front.log.error(error, 'not stopped'));
  // The engine spells the rows in whatever format was asked for.
  const sql = `SELECT ${quoted(statement.sync ? 'finished' : 'waiting')} AS kill_status, ${quoted(id)} AS query_id,
    'default' AS user, ${quoted(query?.sql ?? '')} AS query WHERE ${query === undefined ? 0 : 1}`;
  const rows = { ...request, sql, defaultFormat: statement.format ?? request.defaultFormat, waitsForEnd: true };
  await engine.withSession({ database: 'default', parameters: new Map(), settings: new Map() }, (session) =>
    answerRead({ session, request: rows, statement: { kind: 'read', format: undefined }, response }),
  );
}

function answerError(log: Logger, response: ServerResponse, error: unknown): void {
  if (response.destroyed) return;
  const { code, status, message } = toEngineError(error);
  if (code === UNKNOWN_EXCEPTION) log.error(error, 'request failed');
  if (response.headersSent) {
    response.destroy();
    return;
  }
  response.writeHead(status, {
    'Content-Type': 'text/plain; charset=UTF-8',
    'X-ClickHouse-Exception-Code': String(code),
  });
  response.end(`${message}\n`);
}
