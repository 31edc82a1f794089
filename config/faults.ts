/** Fault of the configuration, with its position in the file. */
export interface ConfigFault {
  readonly file: string
  readonly line: number
  readonly column: number
  /** Path of the key, such as `domains[0].allow[1]`; empty for the whole file. */
  readonly path: string
  /** End of a sentence that begins with the key. */
  readonly message: string
}

/** Error of an invalid configuration. `faults` contains every fault, in the order of the file. */
export class ConfigInvalid extends Error {
  readonly faults: readonly ConfigFault[]

  constructor(faults: readonly ConfigFault[]) {
    const sorted = faults.toSorted((a, b) => a.line - b.line || a.column - b.column)
    super(sorted.map(describeFault).join('\n'))
    this.name = 'ConfigInvalid'
    this.faults = sorted
  }
}

/** Describes a fault in one line: `trunkline.yaml:12:5 domains[0].allow[1]: must be …`. */
export const describeFault = ({ file, line, column, path, message }: ConfigFault): string =>
  `${file}:${line}:${column} ${path ? `${path}: ` : ''}${message}`

/** Keys and indexes of the path to a value. */
export type Keys = readonly (string | number)[]

/** Returns a path such as `domains[0].allow[1]` for its keys. */
export const pathOf = (keys: Keys): string =>
  keys
    .map((key) => (typeof key === 'number' ? `[${key}]` : `.${key}`))
    .join('')
    .replace(/^\./, '')

/** Returns the keys of a JSON pointer (RFC 6901). */
export const keysOfPointer = (pointer: string): Keys =>
  pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((part) => (/^\d+$/.test(part) ? Number(part) : part))

/** Reports a fault at a position of the file. */
export type Report = (keys: Keys, message: string) => void

/** Returns the message of the fault of a file that cannot be read. */
export const readFailure = (error: unknown): string => {
  const { code, message } = error as NodeJS.ErrnoException
  return `cannot be read: ${code === 'ENOENT' ? 'there is no such file' : message}`
}
