// What lets the pages of any site call the routes that clients send to. Their public key is public, and no cookie is ever
// read there.
import type { RequestHandler, Response } from 'express';

const PREFLIGHT_CACHED_SECONDS = '86400';

export const allowAnyOrigin = (res: Response): void => {
  res.setHeader('Access-Control-Allow-Origin', '*');
};

export const answerPreflight: RequestHandler = (_req, res) => {
  allowAnyOrigin(res);
  res
    .set('Access-Control-Allow-Methods', 'POST')
    .set('Access-Control-Allow-Headers', 'Content-Type, Content-Encoding, X-API-Key')
    .set('Access-Control-Max-Age', PREFLIGHT_CACHED_SECONDS)
    .status(204)
    .end();
};
