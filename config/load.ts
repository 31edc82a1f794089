import { readFileSync, statSync } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import { parseDocument } from 'yaml'
import { replaceVariables } from './environment.ts'
import type { ConfigFault, Keys, Report } from './faults.ts'
import { ConfigInvalid, pathOf } from './faults.ts'
import type { FileConfig, FileHandler } from './file.ts'
import { endpointName, subscriberName } from './file.ts'
import { fromSchema } from './from-schema.ts'
import { canonicalHost } from './networks.ts'
import { projectsOf } from './projects.ts'
import { checkRules } from './rules/check-rules.ts'
import { configSchema } from './schema/config-schema.ts'
import type { http as httpSchema } from './schema/http-schema.ts'
import type { LoadedValue } from './schema/values.ts'
import { sdkHosts } from './sdk-hosts.ts'
import { ConfigSource } from './source.ts'
import type { Config, HandlerConfig } from './types.ts'
import { validateSchema } from './validate.ts'

export { ConfigInvalid }

/** Maximum size of a document's file, in bytes. */
const maxDocumentSize = 262_144

/**
 * Reads a configuration file: YAML, variables of `env` (default the environment), schema, defaults and rules.
 * Paths in the file are relative to its folder. Throws {@link ConfigInvalid} with all faults; its message has
 * one line per fault.
 */
export const loadConfig = (file: string, env?: Environment): Config => readConfig(file, env).config

/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>

/** Configuration with the values of its file, which a reload compares. */
export interface ReadConfig {
  /** Values of the file after the schema: with defaults and replaced variables; durations are texts. */
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
  const faults: ConfigFault[] = []
  const report: Report = (keys, message) => faults.push(source.fault(keys, message))
  // An empty file is valid: all keys have defaults.
  const values = (source.value ?? {}) as FileConfig
  validateSchema(values, source.replaced, report)
  if (faults.length > 0) throw new ConfigInvalid(faults)
  const rebuilt = (other: FileConfig) => builtFrom(source, other)
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
  // Reading the whole file throws an error with the position of the fault.
  if (document.errors.length > 0 || missing.length > 0) return readConfig(file, env).config.dataDir
  return resolve(dirname(resolve(file)), text)
}

const builtFrom = (source: ConfigSource, values: FileConfig): Config => {
  const faults: ConfigFault[] = []
  const report: Report = (keys, message) => faults.push(source.fault(keys, message))
  checkRules(values, report)
  const config = build(values, new HandlerLoader(source.file, report))
  if (faults.length > 0) throw new ConfigInvalid(faults)
  return config
}

const readText = (file: string): string => {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new ConfigInvalid([
      { file, line: 1, column: 1, path: '', message: `cannot be read: ${reasonOf(error)}` },
    ])
  }
}

const reasonOf = (error: unknown): string =>
  (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'there is no such file' : (error as Error).message

/** Converts handlers of the file to handlers with the documents' text. */
class HandlerLoader {
  readonly folder: string
  #file: string
  #report: Report

  constructor(file: string, report: Report) {
    this.#file = file
    this.#report = report
    this.folder = dirname(resolve(file))
  }

  load(handler: FileHandler, keys: Keys): HandlerConfig {
    const { kind, topic = '', url, fallbackUrl, method, document, file } = handler
    if (kind === 'realtime') return { kind, topic }
    const name = `${basename(this.#file)}: ${pathOf(keys)}`
    if (url !== undefined) {
      return { kind, url, ...(fallbackUrl && { fallbackUrl }), ...(method && { method }), name }
    }
    if (file !== undefined) return { kind, document: this.#read(file, [...keys, 'file']), name: file }
    return {
      kind,
      document: typeof document === 'object' ? JSON.stringify(document) : (document ?? ''),
      name,
    }
  }

  #read(file: string, keys: Keys): string {
    const path = resolve(this.folder, file)
    try {
      if (statSync(path).size <= maxDocumentSize) return readFileSync(path, 'utf8')
      this.#report(keys, `is larger than ${maxDocumentSize} bytes`)
    } catch (error) {
      this.#report(keys, `cannot be read: ${reasonOf(error)}`)
    }
    return ''
  }
}

const build = (file: FileConfig, handlers: HandlerLoader): Config => {
  const loaded = fromSchema(file, configSchema, handlers.folder)
  return {
    ...loaded,
    projects: projectsOf(file),
    dataDir: resolve(handlers.folder, file.dataDir),
    http: buildHttp(loaded.http, handlers.folder),
    domains: loaded.domains.map(({ handler, ...domain }, i) => ({
      ...domain,
      domain: canonicalHost(domain.domain),
      ...(handler && { handler: handlers.load(handler, ['domains', i, 'handler']) }),
    })),
    carriers: loaded.carriers.map((carrier) => ({ ...carrier, project: carrier.project ?? file.project })),
    endpoints: loaded.endpoints.map(({ handler, ...endpoint }, i) => ({
      ...endpoint,
      name: endpointName(endpoint),
      ...(handler && { handler: handlers.load(handler, ['endpoints', i, 'handler']) }),
    })),
    subscribers: loaded.subscribers.map((subscriber) => ({
      ...subscriber,
      name: subscriberName(subscriber),
    })),
    resources: loaded.resources.map(({ handler, ...resource }, i) => ({
      ...resource,
      handler: handlers.load(handler, ['resources', i, 'handler']),
    })),
  }
}

const buildHttp = (
  { plain, tls, ...http }: LoadedValue<typeof httpSchema>,
  folder: string,
): Config['http'] => {
  const at = (path: string | undefined) => (path === undefined ? undefined : resolve(folder, path))
  return {
    ...http,
    plain: typeof plain === 'object' && plain,
    tls: typeof tls === 'object' && {
      ...tls,
      hosts: tls.hosts ?? sdkHosts(http.publicHost),
      ...(tls.certificate && { certificate: at(tls.certificate), key: at(tls.key) }),
    },
  }
}
