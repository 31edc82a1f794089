/** Low-pass filter as a windowed sinc, the basis of resampling. */

/** Parameter of Kaiser's window for 66 dB of attenuation in the stop band. */
export const kaiser66Db = 6.3

/**
 * Weight of a sample at `distance` samples from the centre of a filter with `half` samples on each side.
 * `cutoff` is the middle of the slope, as a fraction of the sampling rate (0 to 0.5). The weights of a filter
 * add up to about 1 / (2 · cutoff).
 */
export function lowPass(distance: number, half: number, cutoff: number, beta: number): number {
  const x = 2 * cutoff * distance
  const sinc = x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x)
  return sinc * kaiser(distance / half, beta)
}

/** Kaiser's window at `position` -1 to 1. */
function kaiser(position: number, beta: number): number {
  return bessel(beta * Math.sqrt(Math.max(0, 1 - position * position))) / bessel(beta)
}

/** Modified Bessel function of the first kind, order 0, by its series. */
function bessel(x: number): number {
  let term = 1
  let sum = 1
  for (let k = 1; term > sum * 1e-12; k++) {
    term *= (x / (2 * k)) ** 2
    sum += term
  }
  return sum
}
