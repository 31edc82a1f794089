import { checkMessage } from '../message/check.ts'
import type { MessageLimits } from '../message/limits.ts'
import type { RawMessage, SipMessage } from '../message/message.ts'
import { attachRequest, contentLength, declaredLength, headEnd, parseHead } from '../message/parse.ts'
import { SipParseError } from '../message/sip-parse-error.ts'

/**
 * Element of a stream: a message, its fault, or a keep-alive ping that needs a response (RFC 5626 3.5.1).
 * `bytes` of a message are valid until the next element.
 */
export type StreamItem =
  | {
      readonly kind: 'message'
      readonly message: SipMessage
      readonly size: number
      readonly bytes: Buffer
    }
  | { readonly kind: 'ping' }
  | { readonly kind: 'bad'; readonly error: SipParseError; readonly bytes: Buffer }

/** Splits received bytes into SIP messages. */
export interface MessageReader {
  /** Whether a message has begun and not ended. */
  readonly isPartial: boolean
  /**
   * Takes a chunk and returns the complete elements. Throws {@link SipParseError} if the start of the next
   * message is unknown; the connection must then be closed.
   */
  push(chunk: Buffer): Iterable<StreamItem>
}

const empty = Buffer.alloc(0)

/** Splits a byte stream into SIP messages by Content-Length (RFC 3261 18.3). */
export class StreamFramer implements MessageReader {
  #held: Buffer = empty
  #scanned = 0
  /**
   * Whether one CRLF arrived between messages. A second one makes a ping, and may arrive in another chunk.
   */
  #hasHalfPing = false
  /** Head of the current message, or its fault, while the body is awaited. */
  #head: { content: RawMessage | SipParseError; end: number; length: number } | undefined
  readonly #limits: MessageLimits

  constructor(limits: MessageLimits) {
    this.#limits = limits
  }

  get isPartial(): boolean {
    return this.#held.length > 0
  }

  *push(chunk: Buffer): Generator<StreamItem, void> {
    this.#held = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk])
    for (;;) {
      if (!this.#head) {
        yield* this.#skipKeepAlive()
        if (!this.#readHead()) return
      }
      const item = this.#readBody()
      if (!item) return
      yield item
    }
  }

  *#skipKeepAlive(): Generator<StreamItem, void> {
    while (this.#held[0] === 13 && this.#held[1] === 10) {
      this.#held = this.#held.subarray(2)
      this.#scanned = 0
      this.#hasHalfPing = !this.#hasHalfPing
      if (!this.#hasHalfPing) yield { kind: 'ping' }
    }
    // A single CR may be the beginning of the second CRLF.
    if (this.#held.length > 1) this.#hasHalfPing = false
  }

  #readHead(): boolean {
    const end = headEnd(this.#held, Math.max(0, this.#scanned - 3))
    if (end < 0) {
      this.#scanned = this.#held.length
      if (this.#held.length > this.#limits.messageBytes) throw new SipParseError('message', 'too large', 413)
      return false
    }
    const head = this.#held.subarray(0, end)
    let message: RawMessage
    try {
      message = parseHead(head, this.#limits)
    } catch (error) {
      // After a fault in a header line, only this message is lost if its end is known (RFC 3261 18.3).
      const length = this.#isFramed(error) ? declaredLength(head) : undefined
      if (length === undefined || end + 4 + length > this.#limits.messageBytes) throw error
      this.#head = { content: error as SipParseError, end: end + 4, length }
      return true
    }
    const length = contentLength(message, Number.MAX_SAFE_INTEGER)
    // RFC 3261 20.14: a stream requires this header.
    if (length === undefined) throw attachRequest(message, new SipParseError('Content-Length', 'missing'))
    if (end + 4 + length > this.#limits.messageBytes) {
      throw attachRequest(message, new SipParseError('message', 'too large', 413))
    }
    this.#head = { content: message, end: end + 4, length }
    return true
  }

  /**
   * Returns whether the end of a faulty message can be trusted. After a bad start line the stream may not be
   * SIP at all.
   */
  #isFramed(error: unknown): boolean {
    return error instanceof SipParseError && error.part !== 'start line'
  }

  #readBody(): StreamItem | undefined {
    const head = this.#head
    if (!head || this.#held.length < head.end + head.length) return undefined
    const size = head.end + head.length
    // A copy: a small body must not keep the whole chunk in memory.
    const body = Buffer.from(this.#held.subarray(head.end, size))
    const bytes = this.#held.subarray(0, size)
    this.#held = this.#held.subarray(size)
    this.#scanned = 0
    this.#head = undefined
    if (head.content instanceof SipParseError) return { kind: 'bad', error: head.content, bytes }
    try {
      return { kind: 'message', message: checkMessage({ ...head.content, body }), size, bytes }
    } catch (error) {
      if (error instanceof SipParseError) return { kind: 'bad', error, bytes }
      throw error
    }
  }
}
