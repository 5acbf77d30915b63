// What ingestion reads of a request: one of express, or one that came past its router (front.ts).
import type { IncomingMessage } from 'node:http';
import type { Request } from 'express';

export type PlainRequest = IncomingMessage & Pick<Request, 'app' | 'ip' | 'query' | 'url'>;
