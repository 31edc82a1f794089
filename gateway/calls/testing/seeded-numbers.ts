/**
 * Returns a generator of numbers from 0 to below 1. The same seed gives the same numbers, so that a failure
 * can be repeated.
 */
export const numbers = (seed: number) => {
  let state = seed
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}
