import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { ConfigSource } from './config-source.ts'
import type { Environment } from './environment.ts'
import { type ConfigFault, type FaultDetails, type Keys, keysOfPointer } from './faults.ts'
import { maskedLine } from './secret-mask.ts'
import type { DocumentHandlerConfig } from './types.ts'

/** Position of a fault in a document, as reported by the document's language. */
export interface DocumentPlace {
  /** JSON pointer or element path inside the document. */
  readonly path: string
  /** 1-based line of the document's text; undefined if unknown. */
  readonly line?: number
  /** 1-based column; undefined if unknown. */
  readonly column?: number
}

/** Finds the positions of documents' faults in the files of the operator. */
export class DocumentPlaces {
  #folder: string
  #read: () => ConfigSource
  #parsed: ConfigSource | undefined

  /** Reads a configuration file that {@link loadConfig} has accepted. */
  constructor(file: string, env: Environment = process.env) {
    this.#folder = dirname(resolve(file))
    const text = readFileSync(file, 'utf8')
    this.#read = () => new ConfigSource(file, text, env)
  }

  /** The file, parsed with the first fault: most files have none. */
  get #source(): ConfigSource {
    this.#parsed ??= this.#read()
    return this.#parsed
  }

  /** Returns a fault at a position of the file, outside documents. */
  at(keys: Keys, message: string, details: FaultDetails = {}): ConfigFault {
    return this.#source.fault(keys, message, details)
  }

  /** Returns a fault at a position of a handler's document. `keys` lead to the handler. */
  fault(
    handler: DocumentHandlerConfig,
    keys: Keys,
    place: DocumentPlace,
    message: string,
    details: FaultDetails = {},
  ): ConfigFault {
    const { path, line = 1, column = 1 } = place
    const document = [...keys, 'document']
    if (this.#source.has([...keys, 'file']))
      return fileFault(resolve(this.#folder, handler.name), { ...place, line, column }, message, details)
    // The loader converts an inline script to one line of JSON, so that only the path is reliable.
    if (this.#source.has(document, 'map'))
      return this.#source.fault([...document, ...keysOfPointer(path)], message, { part: 'key', ...details })
    const fault = this.#source.textFault(document, { line, column }, message, details)
    return { ...fault, path: `${fault.path} ${path}`.trim() }
  }
}

/** Returns a fault in a document's own file, with the line of the file. */
const fileFault = (
  file: string,
  { path, line, column }: Required<DocumentPlace>,
  message: string,
  { code = 'document-faulty', severity = 'error', hint }: FaultDetails,
): ConfigFault => {
  const text = readFileSync(file, 'utf8').split('\n')[line - 1]?.trimEnd() ?? ''
  const length = Math.max(1, /^<?[\w/.-]*/.exec(text.slice(column - 1))?.[0].length ?? 1)
  const place = { file, line, column, length, path }
  return {
    severity,
    ...place,
    message,
    code,
    ...(hint && { hint }),
    ...(text !== '' && { source: maskedLine(text, 0, []) }),
  }
}
