import type { WebSocket } from 'ws'
import { readJsonObject } from '../core/json.ts'
import type { ConnectionJournal } from './journal.ts'

/** Receives what a client sends. */
export interface SocketListener {
  /** Message in JSON. */
  onMessage(message: Record<string, unknown>): void
  /** Binary message: raw audio. */
  onAudio?(bytes: Buffer): void
  /** Text that is no JSON object. */
  onFaulty?(): void
  onClosed?(): void
}

/** Connection of a client to a stand-in. Keeps the journal. Nothing is sent after a close or a stall. */
export class StandInSocket {
  readonly #socket: WebSocket
  readonly #journal: ConnectionJournal
  #isStalled = false

  constructor(socket: WebSocket, journal: ConnectionJournal) {
    this.#socket = socket
    this.#journal = journal
    // The close event follows, with the code of the fault.
    socket.on('error', () => {})
  }

  /** Passes messages to a listener until the connection closes. */
  listen(listener: SocketListener): void {
    this.#socket.on('message', (data, isBinary) => {
      const bytes = data as Buffer
      if (!isBinary || !listener.onAudio) return this.#read(bytes.toString(), listener)
      this.#journal.audioReceived(bytes)
      listener.onAudio(bytes)
    })
    this.#socket.on('close', (code) => {
      this.#journal.closed(String(code))
      listener.onClosed?.()
    })
  }

  #read(text: string, listener: SocketListener): void {
    let message: Record<string, unknown>
    try {
      message = readJsonObject(text)
    } catch {
      this.#journal.received('faulty', text)
      listener.onFaulty?.()
      return
    }
    this.#journal.received(typeOf(message), message)
    listener.onMessage(message)
  }

  /** Sends a message in JSON, as a text frame, or as a binary frame where the engine does so. */
  send(message: object, isBinary = false): void {
    this.sendText(JSON.stringify(message), typeOf(message), message, isBinary)
  }

  /** Sends a text as it is. `type` and `message` are for the journal. */
  sendText(text: string, type: string, message: unknown = text, isBinary = false): void {
    if (!this.#isUsable) return
    this.#journal.sent(type, message)
    this.#socket.send(isBinary ? Buffer.from(text) : text)
  }

  /** Sends raw audio. */
  sendAudio(bytes: Buffer): void {
    if (!this.#isUsable) return
    this.#journal.audioSent(bytes.length, bytes)
    this.#socket.send(bytes)
  }

  /** Sends nothing from now on, and keeps the connection open. */
  stall(): void {
    this.#isStalled = true
  }

  /** Closes with a code, or without a handshake. */
  close(how: number | 'abrupt', reason = ''): void {
    if (how === 'abrupt') this.#socket.terminate()
    else this.#socket.close(how, reason)
  }

  get #isUsable(): boolean {
    return !this.#isStalled && this.#socket.readyState === this.#socket.OPEN
  }
}

const typeOf = (message: object): string => {
  const { type: named, message_type } = message as {
    readonly type?: unknown
    readonly message_type?: unknown
  }
  const type = named ?? message_type
  return typeof type === 'string' ? type : (Object.keys(message)[0] ?? 'empty')
}
