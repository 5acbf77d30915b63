// Body of a dry run of a report that is in no document yet.
import { z } from 'zod';
import { dashboardKey } from '../dashboards/config-schema.js';
import { reportSchema } from './config-schema.js';

export const reportDryRunBody = z.strictObject({
  dashboard: dashboardKey.meta({ description: 'key of a dashboard with the visibility project' }),
  at: reportSchema.shape.at.meta({ examples: ['monday 08:00', 'daily 07:30', 'monthly 1 08:00'] }),
  timezone: reportSchema.shape.timezone.meta({
    description: 'default: that of the dashboard, else that of the project',
  }),
});
