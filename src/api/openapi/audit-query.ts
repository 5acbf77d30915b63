// The query string of GET /api/gdpr/audit, as the OpenAPI document shows it.
import { z } from 'zod';

export const auditQuery = z.object({
  limit: z.int().min(1).max(1000).default(100),
  before: z.uuid().optional().meta({ description: 'the id of the last entry of the page before' }),
});
