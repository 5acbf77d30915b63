// What parsing a document of definitions needs to know of a project that has nothing yet.
import { toProjectId } from '../../src/platform/ids.js';

export const EMPTY_PROJECT = {
  projectId: toProjectId('00000000-0000-7000-8000-000000000001'),
  dashboards: [],
  eventTypes: [],
  hasAllEvents: true,
};
