import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { ConfigSource } from './config-source.ts'
import type { Environment } from './environment.ts'
import { type ConfigFault, type Keys, keysOfPointer } from './faults.ts'
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
  #source: ConfigSource

  /** Reads a configuration file that {@link loadConfig} has accepted. */
  constructor(file: string, env: Environment = process.env) {
    this.#folder = dirname(resolve(file))
    this.#source = new ConfigSource(file, readFileSync(file, 'utf8'), env)
  }

  /** Returns a fault at a position of the file, outside documents. */
  at(keys: Keys, message: string): ConfigFault {
    return this.#source.fault(keys, message)
  }

  /** Returns a fault at a position of a handler's document. `keys` lead to the handler. */
  fault(handler: DocumentHandlerConfig, keys: Keys, place: DocumentPlace, message: string): ConfigFault {
    const { path, line = 1, column = 1 } = place
    const document = [...keys, 'document']
    if (this.#source.has([...keys, 'file']))
      return { file: resolve(this.#folder, handler.name), line, column, path, message }
    // The loader converts an inline script to one line of JSON, so that only the path is reliable.
    if (this.#source.has(document, 'map'))
      return this.#source.fault([...document, ...keysOfPointer(path)], message)
    const fault = this.#source.textFault(document, line, message)
    return { ...fault, path: `${fault.path} ${path}`.trim() }
  }
}
