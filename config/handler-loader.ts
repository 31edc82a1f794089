import { readFileSync, statSync } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import { parse } from 'yaml'
import { readFailure } from './config-text.ts'
import { type Keys, pathOf, type Report } from './faults.ts'
import type { FileHandler } from './file-config.ts'
import type { HandlerConfig } from './types.ts'

/** Maximum size of a document's file, in bytes. */
const maxDocumentSize = 262_144

/** Converts handlers of the file to handlers with the documents' text. */
export class HandlerLoader {
  /** Folder of the configuration file. */
  readonly folder: string
  #file: string
  #report: Report

  constructor(file: string, report: Report) {
    this.#file = file
    this.#report = report
    this.folder = dirname(resolve(file))
  }

  /** Returns a handler with its document; `keys` lead to the handler. Reports a file that cannot be read. */
  load(handler: FileHandler, keys: Keys): HandlerConfig {
    const { kind, topic = '', url, fallbackUrl, method, document, file } = handler
    if (kind === 'realtime') return { kind, topic }
    const name = `${basename(this.#file)}: ${pathOf(keys)}`
    if (url !== undefined) {
      return { kind, url, ...(fallbackUrl && { fallbackUrl }), ...(method && { method }), name }
    }
    if (file !== undefined) {
      const at = [...keys, 'file']
      return { kind, document: this.#textOf(kind, this.#read(file, at), at), name: file }
    }
    const at = [...keys, 'document']
    const text = typeof document === 'object' ? JSON.stringify(document) : (document ?? '')
    return { kind, document: this.#textOf(kind, text, at), name }
  }

  /** Returns a document; that of an agent as JSON. */
  #textOf(kind: FileHandler['kind'], text: string, keys: Keys): string {
    if (kind !== 'agent') return text
    try {
      const value: unknown = parse(text, { schema: 'core', logLevel: 'error' })
      if (typeof value === 'object' && value !== null && !Array.isArray(value)) return JSON.stringify(value)
      this.#report(keys, 'must be an object such as { prompt: { text: … } }', { code: 'document-faulty' })
    } catch {
      this.#report(keys, 'must be YAML or JSON', { code: 'document-faulty' })
    }
    return '{}'
  }

  #read(file: string, keys: Keys): string {
    const path = resolve(this.folder, file)
    try {
      if (statSync(path).size <= maxDocumentSize) return readFileSync(path, 'utf8')
      this.#report(keys, `is larger than ${maxDocumentSize} bytes`, { code: 'file-too-large' })
    } catch (error) {
      this.#report(keys, readFailure(error), { code: 'file-unreadable' })
    }
    return ''
  }
}
