// Client of POST /api/projects/{projectID}/query: runs a query text.
import type { Answer } from './answer.js';
import { postJson } from './request.js';

/** The most rows of an answer. */
export const ROWS_MAX = 10_000;

export interface Question {
  readonly projectId: string;
  readonly q: string;
  readonly timezone: string;
  readonly limit?: number;
}

const pathOf = (projectId: string): string => `/api/projects/${projectId}/query`;

export async function query({ projectId, ...body }: Question, signal?: AbortSignal): Promise<Answer> {
  const answer = await postJson<Answer>(pathOf(projectId), { ...body, format: 'json' }, signal);
  return { ...answer, q: body.q };
}
