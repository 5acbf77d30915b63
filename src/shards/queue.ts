// Name of the queue of the job that ends abandoned moves; its jobs have no payload.
export const MOVES_QUEUE = 'settle-moves';
