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

/** Largest file of a document, in bytes. */
const maxDocument = 262_144

/**
 * Reads the configuration file: YAML, variables of `env` (default: the environment), schema, rules, defaults.
 * Paths in it start at the file's folder. Throws {@link ConfigInvalid} with every fault that was found; its
 * message has one line for each.
 */
export const loadConfig = (file: string, env?: Environment): Config => readConfig(file, env).config

/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>

/** A configuration together with the values of its file, which a reload compares. */
export interface ReadConfig {
  /** Values of the file after the schema: defaults filled in, variables replaced, durations still texts. */
  readonly values: FileConfig
  readonly config: Config
  /**
   * Returns the configuration that other values in the place of these give. Throws {@link ConfigInvalid} with
   * faults at the places that the keys have in this file.
   */
  readonly rebuilt: (values: FileConfig) => Config
}

/** Reads as {@link loadConfig} and returns the file's values besides. Throws {@link ConfigInvalid}. */
export const readConfig = (file: string, env: Environment = process.env): ReadConfig => {
  const source = new ConfigSource(file, readText(file), env)
  const faults: ConfigFault[] = []
  const report: Report = (keys, message) => faults.push(source.fault(keys, message))
  // An empty file is a configuration: everything has a default.
  const values = (source.value ?? {}) as FileConfig
  validateSchema(values, source.replaced, report)
  if (faults.length > 0) throw new ConfigInvalid(faults)
  const rebuilt = (wanted: FileConfig) => builtFrom(source, wanted)
  return { values, config: rebuilt(values), rebuilt }
}

/**
 * Returns the data folder that a file names, and looks at nothing else of it: variables without a value are
 * no fault elsewhere. Throws {@link ConfigInvalid}.
 */
export const readDataDir = (file: string, env: Environment = process.env): string => {
  const document = parseDocument(readText(file), { schema: 'core', prettyErrors: false })
  const value = document.errors.length === 0 ? document.get('dataDir') : undefined
  const written = typeof value === 'string' ? value : './data'
  const { text, missing } = replaceVariables(written, env, false)
  // Read as a whole, it says at which line what is wrong.
  if (document.errors.length > 0 || missing.length > 0) return readConfig(file, env).config.dataDir
  return resolve(dirname(resolve(file)), text)
}

const builtFrom = (source: ConfigSource, values: FileConfig): Config => {
  const faults: ConfigFault[] = []
  const report: Report = (keys, message) => faults.push(source.fault(keys, message))
  checkRules(values, report)
  const config = build(values, new Documents(source.file, report))
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

/** Turns handlers of the file into handlers with the document's text. */
class Documents {
  readonly folder: string
  #file: string
  #report: Report

  constructor(file: string, report: Report) {
    this.#file = file
    this.#report = report
    this.folder = dirname(resolve(file))
  }

  handler(handler: FileHandler, keys: Keys): HandlerConfig {
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
      if (statSync(path).size <= maxDocument) return readFileSync(path, 'utf8')
      this.#report(keys, `is larger than ${maxDocument} bytes`)
    } catch (error) {
      this.#report(keys, `cannot be read: ${reasonOf(error)}`)
    }
    return ''
  }
}

const build = (file: FileConfig, documents: Documents): Config => {
  const loaded = fromSchema(file, configSchema, documents.folder)
  return {
    ...loaded,
    projects: projectsOf(file),
    dataDir: resolve(documents.folder, file.dataDir),
    http: buildHttp(loaded.http, documents.folder),
    domains: loaded.domains.map(({ handler, ...domain }, i) => ({
      ...domain,
      domain: canonicalHost(domain.domain),
      ...(handler && { handler: documents.handler(handler, ['domains', i, 'handler']) }),
    })),
    carriers: loaded.carriers.map((carrier) => ({ ...carrier, project: carrier.project ?? file.project })),
    endpoints: loaded.endpoints.map(({ handler, ...endpoint }, i) => ({
      ...endpoint,
      name: endpointName(endpoint),
      ...(handler && { handler: documents.handler(handler, ['endpoints', i, 'handler']) }),
    })),
    subscribers: loaded.subscribers.map((subscriber) => ({
      ...subscriber,
      name: subscriberName(subscriber),
    })),
    resources: loaded.resources.map(({ handler, ...resource }, i) => ({
      ...resource,
      handler: documents.handler(handler, ['resources', i, 'handler']),
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
