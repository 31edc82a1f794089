import { resolve } from 'node:path'
import type { Config } from '../../config/types.ts'

/** Exit code for invalid arguments and for an invalid configuration. */
export const invalid = 2

/**
 * Runs a command with the configuration of a file. If the configuration is invalid, prints its faults and
 * resolves with 2.
 */
export const withConfig = (
  path: string,
  run: (config: Config) => number | Promise<number>,
): Promise<number> =>
  printingFaults(async () => {
    const { loadConfig } = await import('../../config/load.ts')
    return run(loadConfig(resolve(path)))
  })

/** Runs a command; if the configuration is invalid, prints its faults and resolves with 2. */
export const printingFaults = async (run: () => Promise<number>): Promise<number> => {
  try {
    return await run()
  } catch (error) {
    const { ConfigInvalid } = await import('../../config/faults.ts')
    if (!(error instanceof ConfigInvalid)) throw error
    ;(await import('./print-faults.ts')).printFaultsOfStart(error.faults)
    return invalid
  }
}
