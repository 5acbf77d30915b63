// What d3-scale takes from d3-interpolate, for numbers: the charts have no scales of colours, for
// which the library would bring 8 KiB (gzip). The build puts it in the place of d3-interpolate.

type Interpolate = (from: number, to: number) => (share: number) => number;

export const interpolateNumber: Interpolate = (from, to) => (share) => from * (1 - share) + to * share;

export const interpolateRound: Interpolate = (from, to) => {
  const at = interpolateNumber(from, to);
  return (share) => Math.round(at(share));
};

export { interpolateNumber as interpolate };

/** Scales of several parts are not used. */
export function piecewise(): never {
  throw new Error('the charts have no scales of several parts');
}
