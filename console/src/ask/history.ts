// Queries that were run in this browser, the newest first, for each project.
import { recall, remember } from '../shell/storage.js';
import type { Asked } from './permalink.js';

const KEPT = 50;

export const recallHistory = (projectId: string): readonly Asked[] =>
  recall<readonly Asked[]>(`history.${projectId}`, []);

export function addToHistory(projectId: string, { q, tz }: Asked): void {
  const others = recallHistory(projectId).filter((each) => each.q !== q);
  remember(`history.${projectId}`, [{ q, tz }, ...others].slice(0, KEPT));
}

export const clearHistory = (projectId: string): void => remember(`history.${projectId}`, []);
