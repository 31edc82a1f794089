/** For tests by chance. */

/** The same numbers for the same seed, from 0 to below 1, so that a failure can be had again. */
export const numbers = (seed: number) => {
  let state = seed
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}
