import type { FaultDetails, Keys, Report } from '../../../config/faults.ts'
import { closest } from '../../../handlers/common/spelling.ts'
import { isJsonObject } from '../../core/json.ts'

/**
 * Value of a file with its place. The readers report a fault and return a usable value: the file is rejected
 * after all faults are known.
 */
export class Field {
  readonly value: unknown
  readonly keys: Keys
  readonly #report: Report

  constructor(value: unknown, keys: Keys, report: Report) {
    this.value = value
    this.keys = keys
    this.#report = report
  }

  /** Whether the value is absent or null. */
  get isAbsent(): boolean {
    return this.value === undefined || this.value === null
  }

  /** Reports a fault, which quotes a wrong value. */
  fault(message: string, details: FaultDetails = {}): void {
    this.#report(this.keys, message, { code: 'wrong-value', quote: true, ...details })
  }

  /** Returns the value of a key. */
  at(key: string | number): Field {
    const value = (this.value as Record<string | number, unknown> | undefined)?.[key]
    return new Field(value, [...this.keys, key], this.#report)
  }

  /** Returns a mapping, whose keys must be among `names`; an empty one for anything else. */
  mapping(names: readonly string[]): Field {
    const found = this.entries()
    for (const { keys } of found) {
      const name = String(keys.at(-1))
      if (names.includes(name)) continue
      const near = closest(name, names)
      const hint = near === undefined ? `known are ${names.join(', ')}` : `did you mean \`${near}\`?`
      this.#report(keys, 'is not a known key', { code: 'unknown-key', part: 'key', hint })
    }
    return isJsonObject(this.value) ? this : new Field({}, this.keys, this.#report)
  }

  /** Returns the entries of a mapping. */
  entries(): readonly Field[] {
    if (isJsonObject(this.value)) return Object.keys(this.value).map((key) => this.at(key))
    this.fault('must be a mapping', { code: 'wrong-type' })
    return []
  }

  /** Returns the entries of a list. */
  list(): readonly Field[] {
    if (Array.isArray(this.value)) return this.value.map((_, index) => this.at(index))
    this.fault('must be a list', { code: 'wrong-type' })
    return []
  }

  /** Returns a text that is not empty. */
  text(what = 'a text'): string {
    if (typeof this.value === 'string' && this.value.trim() !== '') return this.value
    this.fault(`must be ${what}`, { code: 'wrong-type' })
    return ''
  }

  /** Returns a text, or those of a list. */
  texts(): readonly string[] {
    if (this.isAbsent) return []
    return Array.isArray(this.value) ? this.list().map((each) => each.text()) : [this.text()]
  }

  /** Returns a text that a reader understands. Reports the expectation if the reader returns undefined. */
  parsed<T>(read: (text: string) => T | undefined, what: string, otherwise: T): T {
    const isText = typeof this.value === 'string' || typeof this.value === 'number'
    const found = isText ? read(String(this.value)) : undefined
    if (found === undefined) this.fault(`must be ${what}`)
    return found ?? otherwise
  }

  /**
   * Returns what a reader makes of a text, as {@link parsed} does. A number is a fault: YAML takes `0042` for
   * 42, and `+15550100` for 15550100.
   */
  quoted<T>(read: (text: string) => T | undefined, what: string, otherwise: T): T {
    if (typeof this.value !== 'number') return this.parsed(read, what, otherwise)
    this.fault(`must be ${what}`, { hint: 'put it in quotes' })
    return otherwise
  }

  /** Returns one of the choices; the first one after a fault. */
  choice<const Choice extends string>(choices: readonly [Choice, ...Choice[]]): Choice {
    const found = choices.find((choice) => choice === this.value)
    if (found === undefined) this.fault(`must be ${choices.join(' or ')}`)
    return found ?? choices[0]
  }

  /** Returns a duration in ms, such as `500ms` or `1.5s`; `preset` if absent. */
  duration<Preset extends number | undefined>(preset: Preset, maxMs = 600_000): number | Preset {
    if (this.isAbsent) return preset
    const what = `a duration such as 500ms or 1.5s, at most ${maxMs / 1000}s`
    return this.parsed((text) => readDuration(text, maxMs), what, 0)
  }
}

const units: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000 }

const readDuration = (text: string, maxMs: number): number | undefined => {
  const [, number, unit] = /^(\d{1,6}(?:\.\d{1,3})?)(ms|s|m)$/.exec(text) ?? []
  const ms = Number(number) * (units[unit ?? ''] ?? Number.NaN)
  return ms > 0 && ms <= maxMs ? ms : undefined
}
