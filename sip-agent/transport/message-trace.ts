import type { Clock } from '../clock.ts'
import { redactMessage } from '../message/redact.ts'
import type { Endpoint, Flow } from './types.ts'

/** Limits of the messages that the agent keeps in memory. */
export interface TraceLimits {
  /** Maximum number of messages; the oldest ones are replaced. */
  readonly maxMessages: number
  /** Memory for their text in bytes, which is reserved at the start. */
  readonly maxBytes: number
}

/** A message that the agent has received or sent, without secrets. */
export interface TracedMessage {
  /** Milliseconds since 1970. */
  readonly at: number
  readonly direction: 'received' | 'sent'
  /** Address of the agent at which the message was received, or from which it was sent. */
  readonly local: Endpoint
  readonly remote: Endpoint
  /** Call-ID of the message. */
  readonly callId: string
  readonly text: string
}

interface Entry {
  readonly at: number
  readonly direction: TracedMessage['direction']
  readonly local: Endpoint
  readonly remote: Endpoint
  readonly start: number
  readonly length: number
}

/** Matches the Call-ID of a message, in its short form too. */
const callIdField = /^(?:call-id|i)[ \t]*:([^\r\n]*)/im

/** Maximum number of messages in one answer. */
const maxFound = 1_000

/** Returns whether bytes may be a SIP message, and neither a keep-alive nor STUN. */
const isMessage = (bytes: Buffer): boolean => bytes.length > 4 && (bytes[0] ?? 0) >= 0x41

/**
 * The latest messages of the agent. Keeping a message copies it into memory that is reserved at the start,
 * and nothing else. Messages are read and redacted only when they are asked for.
 */
export class MessageTrace {
  readonly #clock: Pick<Clock, 'now'>
  readonly #memory: Buffer
  readonly #entries: (Entry | undefined)[]
  /** Place of the oldest entry. */
  #first = 0
  #count = 0
  /** Place in the memory for the next message. */
  #next = 0

  constructor({ maxMessages, maxBytes }: TraceLimits, clock: Pick<Clock, 'now'>) {
    this.#clock = clock
    this.#memory = Buffer.allocUnsafeSlow(maxBytes)
    this.#entries = Array.from({ length: maxMessages })
  }

  /** Number of messages in memory. */
  get size(): number {
    return this.#count
  }

  /** Keeps a message. A message above the limit of bytes is kept in part. */
  add(
    direction: TracedMessage['direction'],
    bytes: Buffer,
    { local, remote }: Pick<Flow, 'local' | 'remote'>,
  ) {
    if (!isMessage(bytes)) return
    const length = Math.min(bytes.length, this.#memory.length)
    if (this.#next + length > this.#memory.length) {
      // The rest of the memory stays unused; its entries are the oldest ones.
      while (this.#oldest && this.#oldest.start >= this.#next) this.#removeOldest()
      this.#next = 0
    }
    const start = this.#next
    while (this.#oldest && this.#isOverlapping(this.#oldest, start, length)) this.#removeOldest()
    if (this.#count === this.#entries.length) this.#removeOldest()
    bytes.copy(this.#memory, start, 0, length)
    const place = (this.#first + this.#count) % this.#entries.length
    this.#entries[place] = { at: this.#clock.now(), direction, local, remote, start, length }
    this.#count++
    this.#next = start + length
  }

  /** Returns the messages with one of these Call-IDs, the oldest first; at most 1,000. */
  find(callIds: readonly string[]): readonly TracedMessage[] {
    const entries = Array.from(
      { length: this.#count },
      (_, at) => this.#entries[(this.#first + at) % this.#entries.length],
    ).filter((entry) => entry !== undefined)
    const candidates = this.#containing(callIds, entries)
    const found: TracedMessage[] = []
    for (const entry of entries) {
      const message = candidates.has(entry) ? this.#read(entry, callIds) : undefined
      if (message && found.push(message) === maxFound) break
    }
    return found
  }

  /**
   * Returns the entries whose bytes contain one of the texts. One search through the whole memory is far
   * quicker than a search through each entry.
   */
  #containing(texts: readonly string[], entries: readonly Entry[]): ReadonlySet<Entry> {
    const inMemory = entries.toSorted((one, other) => one.start - other.start)
    const found = new Set<Entry>()
    for (const text of texts) {
      let next = 0
      for (let at = this.#memory.indexOf(text); at >= 0; at = this.#memory.indexOf(text, at + 1)) {
        while (next < inMemory.length && endOf(inMemory[next]) <= at) next++
        const entry = inMemory[next]
        if (!entry) break
        if (at < entry.start) continue
        found.add(entry)
        // A further occurrence in the same message is of no interest.
        at = endOf(entry) - 1
      }
    }
    return found
  }

  get #oldest(): Entry | undefined {
    return this.#count > 0 ? this.#entries[this.#first] : undefined
  }

  #removeOldest(): void {
    this.#entries[this.#first] = undefined
    this.#first = (this.#first + 1) % this.#entries.length
    this.#count--
  }

  #isOverlapping(entry: Entry, start: number, length: number): boolean {
    return entry.start < start + length && start < entry.start + entry.length
  }

  #read({ start, length, ...facts }: Entry, callIds: readonly string[]): TracedMessage | undefined {
    const bytes = this.#memory.subarray(start, start + length)
    const text = bytes.toString('utf8')
    const callId = callIdField.exec(text)?.[1]?.trim()
    if (callId === undefined || !callIds.includes(callId)) return undefined
    return { ...facts, callId, text: redactMessage(text) }
  }
}

/** Returns the place after the last byte of an entry. */
const endOf = (entry: Entry | undefined): number => (entry ? entry.start + entry.length : 0)
