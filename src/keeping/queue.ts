// Name of the queue of the nightly deletion; its jobs have no payload.
export const KEEPING_QUEUE = 'delete-expired';
