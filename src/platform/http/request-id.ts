// The id of a request, by which its answer, what is logged about it and the jobs that it left can be found together. One that a
// client or a proxy has given is kept when it is short and harmless; any other request gets a new one. From here on it stands in
// the request's own header, so that what is forwarded takes it along.
import type { Request, RequestHandler } from 'express';
import { randomBase62 } from '../ids.js';

const HEADER = 'x-request-id';
const MADE_LENGTH = 16;

/** Nothing that could end a line, a field or a comment, wherever the id is written. */
const HARMLESS = /^[A-Za-z0-9._-]{1,64}$/;

export const identifyRequest: RequestHandler = (req, res, next) => {
  const given = req.headers[HEADER];
  const id = typeof given === 'string' && HARMLESS.test(given) ? given : randomBase62(MADE_LENGTH);
  req.headers[HEADER] = id;
  res.setHeader('X-Request-Id', id);
  next();
};

/** Of a request that has passed `identifyRequest`. */
export const requestIdOf = (req: Request): string => String(req.headers[HEADER]);
