import type { EngineName } from './script-types.ts'

/** One event at a stand-in. */
export interface JournalEntry {
  /** Number from 1, without gaps unless old entries were dropped. */
  readonly number: number
  /** Time in ms since the Unix epoch, by the clock of the stand-ins. */
  readonly at: number
  readonly engine: EngineName
  /** Number of the connection or request, from 1. */
  readonly connection: number
  readonly what: 'opened' | 'received' | 'sent' | 'closed'
  /** Type of the message as the protocol names it; `audio` for raw audio. */
  readonly type: string
  /** Number of bytes of raw audio. */
  readonly bytes?: number
  /** The message; texts of more than 2,000 characters are replaced by their length. */
  readonly message?: unknown
}

/** Receives each entry as it is added, with the whole message, or the bytes of raw audio. */
export type JournalObserver = (entry: JournalEntry, content: unknown) => void

/** Maximum number of entries; the oldest are dropped. */
const maxEntries = 100_000

/** Record of everything that the stand-ins received and sent, with times. Keys of clients are not in it. */
export class Journal {
  #entries: JournalEntry[] = []
  #count = 0
  #connections = 0
  readonly #now: () => number
  readonly #observe: JournalObserver | undefined

  /** `now` returns the time in ms since the Unix epoch. `observe`: default none. */
  constructor(now: () => number, observe?: JournalObserver) {
    this.#now = now
    this.#observe = observe
  }

  /** All entries, the oldest first. */
  get entries(): readonly JournalEntry[] {
    return this.#entries
  }

  /** Returns the messages of one type that an engine received, the oldest first. */
  received(type: string, engine?: EngineName): readonly JournalEntry[] {
    return this.#entries.filter(
      (each) =>
        each.what === 'received' && each.type === type && (engine === undefined || each.engine === engine),
    )
  }

  /** Removes all entries. Numbers go on. */
  clear(): void {
    this.#entries = []
  }

  /** Begins the record of a connection or request. */
  open(engine: EngineName, target: string): ConnectionJournal {
    const connection = ++this.#connections
    const add: AddEntry = (what, type, rest = {}, content = rest.message) =>
      this.#add({ engine, connection, what, type, ...rest }, content)
    add('opened', 'open', { message: { target: withoutKey(target) } })
    return new ConnectionJournal(add)
  }

  #add(added: Omit<JournalEntry, 'number' | 'at'>, content: unknown): void {
    const entry = { number: ++this.#count, at: this.#now(), ...added }
    this.#entries.push(entry)
    this.#observe?.(entry, content)
    // Dropping many at once keeps the cost of an entry constant.
    if (this.#entries.length > maxEntries * 1.1) this.#entries = this.#entries.slice(-maxEntries)
  }
}

type AddEntry = (
  what: JournalEntry['what'],
  type: string,
  rest?: Pick<JournalEntry, 'bytes' | 'message'>,
  content?: unknown,
) => void

/** Record of one connection. */
export class ConnectionJournal {
  readonly #add: AddEntry

  constructor(add: AddEntry) {
    this.#add = add
  }

  received(type: string, message: unknown): void {
    this.#add('received', type, { message: shortened(message) }, message)
  }

  sent(type: string, message: unknown): void {
    this.#add('sent', type, { message: shortened(message) }, message)
  }

  audioReceived(bytes: Uint8Array): void {
    this.#add('received', 'audio', { bytes: bytes.length }, bytes)
  }

  /** `content`: the bytes, if they are known at once. */
  audioSent(bytes: number, content?: Uint8Array): void {
    this.#add('sent', 'audio', { bytes }, content)
  }

  closed(reason: string): void {
    this.#add('closed', reason)
  }
}

/** Longest text of a message in the journal, in characters. */
const maxText = 2000

const shortened = (value: unknown): unknown => {
  if (typeof value === 'string') return value.length > maxText ? `(${value.length} characters)` : value
  if (Array.isArray(value)) return value.map(shortened)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, shortened(each)]))
}

const withoutKey = (target: string): string => target.replace(/([?&](?:key|api_key|token)=)[^&]*/gi, '$1…')
