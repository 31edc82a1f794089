import fc from 'fast-check'

/** Seed of property tests without another one. */
const usualSeed = 2026

/**
 * Property tests try the same cases in every run, so a failure belongs to the change that shows it.
 * `TRUNKLINE_SEED` is another seed, a 32-bit integer, or `random` for a new one in each run. A failure prints
 * the seed that repeats it.
 */
const { TRUNKLINE_SEED = String(usualSeed) } = process.env

if (TRUNKLINE_SEED !== 'random') {
  const seed = Number(TRUNKLINE_SEED)
  if (TRUNKLINE_SEED === '' || (seed | 0) !== seed)
    throw new Error(`TRUNKLINE_SEED is "${TRUNKLINE_SEED}"; expected a 32-bit integer or random`)
  fc.configureGlobal({ ...fc.readConfigureGlobal(), seed })
}
