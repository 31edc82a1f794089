import { resolve } from 'node:path'
import { type EffectiveValue, effectiveConfig } from '../../config/effective-config.ts'

/** Options of `trunkline print-config`. */
export interface PrintConfigOptions {
  /** Leaves out the defaults. */
  readonly noDefaults: boolean
  /** Prints the values as JSON. */
  readonly json: boolean
}

/**
 * `trunkline print-config`: prints the values that a configuration has in effect, with their origins and
 * without secrets. Returns the exit code. Throws ConfigInvalid.
 */
export const printConfig = (file: string, { noDefaults, json }: PrintConfigOptions): number => {
  const path = resolve(file)
  const values = effectiveConfig(path).filter(({ origin }) => !noDefaults || origin !== 'default')
  process.stdout.write(json ? `${JSON.stringify({ file: path, values }, null, 2)}\n` : textOf(values))
  return 0
}

const textOf = (values: readonly EffectiveValue[]): string =>
  values.map(({ key, value, origin }) => `${key} = ${JSON.stringify(value)}  # ${origin}\n`).join('')
