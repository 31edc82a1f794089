import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { type ConfigFault, type Keys, keysOfPointer } from './faults.ts'
import { ConfigSource } from './source.ts'
import type { DocumentHandlerConfig } from './types.ts'

/** What a document's language says about the place of a fault. */
export interface DocumentPlace {
  /** JSON pointer or element path inside the document. */
  readonly path: string
  /** 1-based line of the document's text, where it is known. */
  readonly line?: number
  readonly column?: number
}

/** Finds the faults of documents in the files in which people wrote them. */
export class DocumentPlaces {
  #folder: string
  #source: ConfigSource

  /** Reads a configuration that {@link loadConfig} has taken. */
  constructor(file: string, env: Readonly<Record<string, string | undefined>> = process.env) {
    this.#folder = dirname(resolve(file))
    this.#source = new ConfigSource(file, readFileSync(file, 'utf8'), env)
  }

  /** Something at a place of the file, outside documents. */
  at(keys: Keys, message: string): ConfigFault {
    return this.#source.fault(keys, message)
  }

  /** The fault at a place of the handler's document; the keys lead to the handler. */
  fault(handler: DocumentHandlerConfig, keys: Keys, place: DocumentPlace, message: string): ConfigFault {
    const { path, line = 1, column = 1 } = place
    const document = [...keys, 'document']
    if (this.#source.has([...keys, 'file']))
      return { file: resolve(this.#folder, handler.name), line, column, path, message }
    // A script in place was turned into one line of JSON: only its path is to be trusted.
    if (this.#source.has(document, 'map'))
      return this.#source.fault([...document, ...keysOfPointer(path)], message)
    const fault = this.#source.textFault(document, line, message)
    return { ...fault, path: `${fault.path} ${path}`.trim() }
  }
}
