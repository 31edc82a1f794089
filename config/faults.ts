import type { ConfigFault } from './types.ts'

/** The configuration cannot be used. `faults` has every fault that was found, in the order of the file. */
export class ConfigInvalid extends Error {
  readonly faults: readonly ConfigFault[]

  constructor(faults: readonly ConfigFault[]) {
    const sorted = faults.toSorted((a, b) => a.line - b.line || a.column - b.column)
    super(sorted.map(describeFault).join('\n'))
    this.name = 'ConfigInvalid'
    this.faults = sorted
  }
}

/** One line for people: `trunkline.yaml:12:5 domains[0].allow[1]: must be …`. */
export const describeFault = ({ file, line, column, path, message }: ConfigFault): string =>
  `${file}:${line}:${column} ${path ? `${path}: ` : ''}${message}`

/** Keys and indexes that lead to a value. */
export type Keys = readonly (string | number)[]

/** `domains[0].allow[1]` for its keys. */
export const pathOf = (keys: Keys): string =>
  keys
    .map((key) => (typeof key === 'number' ? `[${key}]` : `.${key}`))
    .join('')
    .replace(/^\./, '')

/** Keys of a JSON pointer (RFC 6901). */
export const keysOfPointer = (pointer: string): Keys =>
  pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((part) => (/^\d+$/.test(part) ? Number(part) : part))

/** Takes a fault at a place of the file. */
export type Report = (keys: Keys, message: string) => void
