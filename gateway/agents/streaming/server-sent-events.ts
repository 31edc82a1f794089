import { EngineError } from './engine-error.ts'

/** Event of a stream of server-sent events. */
export interface ServerSentEvent {
  /** Type of the event; `message` unless the server names one. */
  readonly event: string
  readonly data: string
}

const lineFeed = 0x0a
const carriageReturn = 0x0d

/**
 * Reader of server-sent events (HTML standard, section 9.2). Takes the bytes in any pieces, in linear time,
 * and holds at most one event. Comments, ids and retry times are ignored.
 */
export class ServerSentEvents {
  readonly #maxLength: number
  readonly #decoder = new TextDecoder()
  /** Beginning of a line whose end was not received yet. */
  #kept: string[] = []
  #isAfterReturn = false
  #event = ''
  #data: string[] = []
  /** Characters of the event so far. */
  #length = 0

  /** `maxLength`: maximum number of characters of an event. */
  constructor(maxLength: number) {
    this.#maxLength = maxLength
  }

  /** Returns the events that `bytes` complete. Throws an {@link EngineError} if an event is too long. */
  push(bytes: Uint8Array): readonly ServerSentEvent[] {
    return this.#read(this.#decoder.decode(bytes, { stream: true }))
  }

  /** Returns the last event of a stream that ended without an empty line, if there is one. */
  end(): readonly ServerSentEvent[] {
    return this.#read(`${this.#decoder.decode()}\n\n`)
  }

  #read(text: string): readonly ServerSentEvent[] {
    const events: ServerSentEvent[] = []
    let start = 0
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at)
      const isSecondHalf = code === lineFeed && this.#isAfterReturn
      this.#isAfterReturn = code === carriageReturn
      if (code !== lineFeed && code !== carriageReturn) continue
      if (!isSecondHalf) this.#line(text.slice(start, at), events)
      start = at + 1
    }
    if (start < text.length) {
      this.#count(text.length - start)
      this.#kept.push(text.slice(start))
    }
    return events
  }

  #line(end: string, events: ServerSentEvent[]): void {
    this.#count(end.length)
    const line = this.#kept.length > 0 ? this.#kept.join('') + end : end
    this.#kept = []
    if (line === '') this.#complete(events)
    else this.#field(line)
  }

  #field(line: string): void {
    const colon = line.indexOf(':')
    const name = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1)
    if (name === 'data') this.#data.push(value)
    else if (name === 'event') this.#event = value
    // Without this, a stream of nothing but comments would exceed the length of an event.
    else this.#length -= line.length
  }

  #complete(events: ServerSentEvent[]): void {
    if (this.#data.length > 0) events.push({ event: this.#event || 'message', data: this.#data.join('\n') })
    this.#event = ''
    this.#data = []
    this.#length = 0
  }

  #count(length: number): void {
    this.#length += length
    if (this.#length > this.#maxLength)
      throw new EngineError('protocol', `an event is longer than ${this.#maxLength} characters`)
  }
}
