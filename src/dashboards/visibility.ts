// Who sees a dashboard: its owner, or every member of the project.

export const VISIBILITIES = ['personal', 'project'] as const;
export type Visibility = (typeof VISIBILITIES)[number];
