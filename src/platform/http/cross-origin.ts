// CORS for the ingestion routes: any origin may call them, because public keys are public and no
// cookie is read there.
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
