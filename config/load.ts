import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { parseDocument } from 'yaml'
import { buildConfig } from './build-config.ts'
import { ConfigSource } from './config-source.ts'
import { type Environment, replaceVariables } from './environment.ts'
import { ConfigInvalid, readFailure } from './faults.ts'
import type { FileConfig } from './file-config.ts'
import { HandlerLoader } from './handler-loader.ts'
import { checkRules } from './rules/check-rules.ts'
import type { Config } from './types.ts'
import { validateSchema } from './validate.ts'

/**
 * Reads a configuration file: YAML, variables of `env` (default the environment), schema, defaults and rules.
 * Paths in the file are relative to its folder. Throws {@link ConfigInvalid} with all faults; the error's
 * message has one line per fault.
 */
export const loadConfig = (file: string, env?: Environment): Config => readConfig(file, env).config

/** Configuration with the values of its file, which a reload compares. */
export interface ReadConfig {
  /**
   * Values of the file after validation by the schema: with defaults and replaced variables; durations are
   * still texts.
   */
  readonly values: FileConfig
  readonly config: Config
  /**
   * Returns the configuration for other values of this file. Throws {@link ConfigInvalid} with faults at the
   * positions of the keys in this file.
   */
  readonly rebuilt: (values: FileConfig) => Config
}

/** Reads a file like {@link loadConfig}, and also returns its values. Throws {@link ConfigInvalid}. */
export const readConfig = (file: string, env: Environment = process.env): ReadConfig => {
  const source = new ConfigSource(file, readText(file), env)
  // An empty file is valid: all keys have defaults.
  const values = (source.value ?? {}) as FileConfig
  source.check((report) => validateSchema(values, source.replaced, report))
  const rebuilt = (other: FileConfig) =>
    source.check((report) => {
      checkRules(other, report)
      return buildConfig(other, new HandlerLoader(file, report))
    })
  return { values, config: rebuilt(values), rebuilt }
}

/**
 * Returns the data folder of a configuration file, and ignores its other keys: their variables may be
 * missing. Throws {@link ConfigInvalid}.
 */
export const readDataDir = (file: string, env: Environment = process.env): string => {
  const document = parseDocument(readText(file), { schema: 'core', prettyErrors: false })
  const value = document.errors.length === 0 ? document.get('dataDir') : undefined
  const written = typeof value === 'string' ? value : './data'
  const { text, missing } = replaceVariables(written, env, false)
  // Reads the whole file, which throws an error with the position of the fault.
  if (document.errors.length > 0 || missing.length > 0) return readConfig(file, env).config.dataDir
  return resolve(dirname(resolve(file)), text)
}

const readText = (file: string): string => {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new ConfigInvalid([{ file, line: 1, column: 1, path: '', message: readFailure(error) }])
  }
}
