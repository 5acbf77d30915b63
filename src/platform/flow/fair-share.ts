// Fair share by dynamic threshold: how much of a shared resource one owner may hold. The limit
// decreases with the free part, so that one owner alone gets three quarters, two get 43 % each, and
// however many use up their shares, some remains for the next.

const PER_FREE = 3;

export const isBeyondShare = (held: number, free: number): boolean => held > PER_FREE * free;
