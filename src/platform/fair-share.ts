// Dynamic threshold: how much of a shared room one owner may hold. The limit falls with what is free, so that one owner alone gets
// three quarters of the room, two get 43 % each, and however many fill their shares, some room is left for the next.

const PER_FREE = 3;

export const isBeyondShare = (held: number, free: number): boolean => held > PER_FREE * free;
