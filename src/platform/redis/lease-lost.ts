// The end of a lease: what only the owner of a job may do is not done.

/** The job may belong to another worker by now. */
export class LeaseLost extends Error {
  constructor() {
    super('the lock of a job may have expired; another worker may have it');
    this.name = 'LeaseLost';
  }
}

export const isLeaseLost = (error: unknown): boolean => error instanceof LeaseLost;
