import { dirname, resolve } from 'node:path'
import { parseDocument } from 'yaml'
import { buildConfig } from './build-config.ts'
import { ConfigSource } from './config-source.ts'
import { readConfigText } from './config-text.ts'
import { type Environment, replaceVariables } from './environment.ts'
import type { FileConfig } from './file-config.ts'
import { HandlerLoader } from './handler-loader.ts'
import { checkRules } from './rules/check-rules.ts'
import type { Config } from './types.ts'
import { validateSchema } from './validate.ts'

/**
 * Reads a configuration file. Parses the YAML, replaces variables from `env` (default: the environment of the
 * process), validates the values by the schema, adds defaults and checks the rules. Paths in the file are
 * relative to its folder. Throws {@link ConfigInvalid} with all faults; the error's message has one line per
 * fault.
 */
export const loadConfig = (file: string, env?: Environment): Config => readConfig(file, env).config

/** Configuration, and the values in its file. A reload compares these values with those of the last read. */
export interface ReadConfig {
  /**
   * Values of the file after validation by the schema. Defaults are added and variables are replaced;
   * durations are still strings.
   */
  readonly values: FileConfig
  readonly config: Config
  /**
   * Builds a configuration from other values in place of the file's. Throws {@link ConfigInvalid}; each fault
   * has the position of its key in this file.
   */
  readonly rebuilt: (values: FileConfig) => Config
}

/** Reads a file like {@link loadConfig}, but also returns its values. Throws {@link ConfigInvalid}. */
export const readConfig = (file: string, env: Environment = process.env): ReadConfig => {
  const source = new ConfigSource(file, readConfigText(file), env)
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
 * Returns the data folder that a configuration file sets. Ignores its other keys, so their variables may be
 * missing. Throws {@link ConfigInvalid}.
 */
export const readDataDir = (file: string, env: Environment = process.env): string => {
  const document = parseDocument(readConfigText(file), { schema: 'core', prettyErrors: false })
  const value = document.errors.length === 0 ? document.get('dataDir') : undefined
  const written = typeof value === 'string' ? value : './data'
  const { text, missing } = replaceVariables(written, env, false)
  // Such a file is invalid. Reading all of it throws an error with the position of each fault.
  if (document.errors.length > 0 || missing.length > 0) return readConfig(file, env).config.dataDir
  return resolve(dirname(resolve(file)), text)
}
