/** Place in a text, both from 1. */
export interface Place {
  readonly line: number
  /** In characters (UTF-16 code units), as editors count. */
  readonly column: number
}

/** Fault of the configuration, with its position in the file. */
export interface ConfigFault extends Place {
  readonly severity: 'error' | 'warning'
  readonly file: string
  /** Number of characters of the faulty text, within one line; at least 1. */
  readonly length: number
  /** Path of the key, such as `domains[0].allow[1]`; empty for the whole file. */
  readonly path: string
  /** End of a sentence that begins with the key. Contains no secret. */
  readonly message: string
  /** Kind of the fault, which never changes: `unknown-key`, or a code of a document's language. */
  readonly code: string
  /** Faulty value as it is written; absent for a secret, a group, a list and a variable. */
  readonly value?: string
  /** Correction, without a capital letter and a full stop: "did you mean `calls`?". */
  readonly hint?: string
  /** Place of the first of two duplicates. */
  readonly first?: Place
  /** Line of the file with all secrets masked; absent for an empty line. */
  readonly source?: string
}

/** Error of an invalid configuration. `faults` contains every fault, in the order of the file. */
export class ConfigInvalid extends Error {
  readonly faults: readonly ConfigFault[]

  constructor(faults: readonly ConfigFault[]) {
    const sorted = inOrder(faults)
    super(sorted.map(describeFault).join('\n'))
    this.name = 'ConfigInvalid'
    this.faults = sorted
  }
}

/**
 * Returns faults by file and place, each once. Entries that share a value by a YAML alias share its faults,
 * and only the first one is reported.
 */
export const inOrder = (faults: readonly ConfigFault[]): readonly ConfigFault[] => {
  const known = new Map<string, ConfigFault>()
  for (const fault of faults) {
    const place = `${fault.file}:${fault.line}:${fault.column} ${fault.message}`
    if (!known.has(place)) known.set(place, fault)
  }
  const files = [...new Set(faults.map(({ file }) => file))]
  return [...known.values()].sort(
    (a, b) => files.indexOf(a.file) - files.indexOf(b.file) || a.line - b.line || a.column - b.column,
  )
}

/** Fault as far as a line of text shows it. */
export type DescribedFault = Pick<ConfigFault, 'file' | 'line' | 'column' | 'path' | 'message'> &
  Partial<ConfigFault>

/** Describes a fault in one line: `trunkline.yaml:12:5 domains[0].allow[1]: must be … [wrong-format]`. */
export const describeFault = (fault: DescribedFault): string => {
  const { file, line, column, severity, path, code } = fault
  const kind = severity === 'warning' ? 'warning: ' : ''
  const key = path ? `${path}: ` : ''
  const end = code === undefined ? '' : ` [${code}]`
  return `${file}:${line}:${column} ${kind}${key}${explanationOf(fault)}${end}`
}

/** Returns the message of a fault with its value, its hint and the place of the first of two duplicates. */
export const explanationOf = ({
  message,
  value,
  hint,
  first,
}: Pick<ConfigFault, 'message' | 'hint' | 'value' | 'first'>): string =>
  [
    message,
    value === undefined ? '' : `, not ${value}`,
    first === undefined ? '' : ` (first at line ${first.line})`,
    hint ? `; ${hint}` : '',
  ].join('')

/** Keys and indexes of the path to a value. */
export type Keys = readonly (string | number)[]

/** Returns a path such as `domains[0].allow[1]` for its keys. An unusual key is written as JSON. */
export const pathOf = (keys: Keys): string =>
  keys
    .map((key) => (typeof key === 'number' ? `[${key}]` : /^[^\s"[\]]+$/.test(key) ? `.${key}` : quoted(key)))
    .join('')
    .replace(/^\./, '')

const quoted = (key: string): string => `[${JSON.stringify(key)}]`

/** Returns the keys of a JSON pointer (RFC 6901). */
export const keysOfPointer = (pointer: string): Keys =>
  pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((part) => (/^\d+$/.test(part) ? Number(part) : part))

/** Details of a fault, besides its keys and message. */
export interface FaultDetails {
  /** Default `conflict`: the value contradicts another one, or a rule. */
  readonly code?: string
  readonly hint?: string
  /** Keys of the first of two duplicates. */
  readonly first?: Keys
  /** Part of the entry that is faulty: its value if that is a single one (default), or its key. */
  readonly part?: 'key' | 'value'
  /** Whether the fault quotes the value, as far as it is no secret. */
  readonly quote?: boolean
  /** Default `error`. */
  readonly severity?: ConfigFault['severity']
}

/** Details of a fault of a key that the other keys of its group exclude. */
export const misplaced = { code: 'misplaced-key', part: 'key' } as const satisfies FaultDetails

/** Reports a fault at a position of the file. */
export type Report = (keys: Keys, message: string, details?: FaultDetails) => void
