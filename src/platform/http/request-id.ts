// Request ids: link a response, its log lines and its jobs. An X-Request-Id of the client is kept
// when it is short and plain, else one is generated. It is set on the request's header, so that
// forwarded requests carry it.
import type { IncomingMessage } from 'node:http';
import type { RequestHandler } from 'express';
import { randomBase62 } from '../ids.js';

const HEADER = 'x-request-id';
const MADE_LENGTH = 16;

/** Allows no character that could end a line, a field or a comment. */
const HARMLESS = /^[A-Za-z0-9._-]{1,64}$/;

export const identifyRequest: RequestHandler = (req, res, next) => {
  res.setHeader('X-Request-Id', settleRequestId(req));
  next();
};

/** Sets the id on the header of the request. Another call finds the same. */
export function settleRequestId({ headers }: IncomingMessage): string {
  const given = headers[HEADER];
  const id = typeof given === 'string' && HARMLESS.test(given) ? given : randomBase62(MADE_LENGTH);
  headers[HEADER] = id;
  return id;
}

/** Only for requests that have an id (`settleRequestId`). */
export const requestIdOf = ({ headers }: Pick<IncomingMessage, 'headers'>): string => String(headers[HEADER]);
