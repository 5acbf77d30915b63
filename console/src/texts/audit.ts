// Texts of the audit trail: what each action means.

/** By action, as a person says it. */
export const auditActions: Readonly<Record<string, string>> = {
  'erasure.requested': 'Requested the erasure of a person',
  'erasure.deleted': 'Erased a person from the databases',
  'erasure.purged': 'Removed an erased person from the files',
  'export.requested': 'Requested an export',
  'export.ended': 'Ended an export',
  'people.listed': 'Listed people by a query',
  'import.begun': 'Began an import',
  'import.ended': 'Ended an import',
  'job.replayed': 'Replayed a failed job',
  'job.discarded': 'Discarded a failed job',
  'project.deleted': 'Deleted the project',
  'project.data_deleted': 'Deleted the data of the project',
};

export const auditOutcomes: Readonly<Record<string, string>> = {
  accepted: 'Accepted',
  completed: 'Completed',
  failed: 'Failed',
  cancelled: 'Cancelled',
};
