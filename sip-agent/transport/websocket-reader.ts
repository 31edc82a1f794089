import { checkMessage } from '../message/check.ts'
import type { MessageLimits } from '../message/limits.ts'
import { parseDatagram } from '../message/parse.ts'
import { SipParseError } from '../message/sip-parse-error.ts'
import type { MessageReader, StreamItem } from './stream-framer.ts'

/** Reads WebSocket messages, each of which holds one SIP message (RFC 7118 4.1). */
export class WebSocketReader implements MessageReader {
  readonly isPartial = false
  readonly #limits: MessageLimits

  constructor(limits: MessageLimits) {
    this.#limits = limits
  }

  *push(bytes: Buffer): Generator<StreamItem, void> {
    // RFC 7118 6: a client may send the keep-alive of RFC 5626 as a separate message; only the double CRLF
    // needs a response.
    if (bytes.length <= 4) {
      if (bytes.equals(ping)) yield { kind: 'ping' }
      return
    }
    try {
      const message = checkMessage(parseDatagram(bytes, this.#limits))
      yield { kind: 'message', message, size: bytes.length, bytes }
    } catch (error) {
      if (!(error instanceof SipParseError)) throw error
      yield { kind: 'bad', error, bytes }
    }
  }
}

const ping = Buffer.from('\r\n\r\n')
