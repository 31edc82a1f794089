import type { RawData, WebSocket } from 'ws'
import type { StreamEnd } from '../../handlers/verbs.ts'
import type { MediaPort, Tap, TapRequest } from '../../media/types.ts'
import type { AudioStream, StreamSource } from '../calls/verbs/call-streams.ts'
import type { Clock, Timer } from '../core/clock.ts'
import { ChunkDecoder, octetsOf, tapRateOf } from './stream-format.ts'
import { readCommand, type StreamCommand, type StreamFacts, StreamWriter } from './stream-messages.ts'

/** Options of a {@link WebSocketStream}. */
export interface WebSocketStreamOptions {
  readonly facts: StreamFacts
  readonly tracks: TapRequest['tracks']
  readonly bidirectional: boolean
  readonly connectTimeoutMs: number
}

/** Collaborators of a {@link WebSocketStream}. */
export interface WebSocketStreamDeps {
  /** New socket that has not emitted any event yet. */
  readonly socket: WebSocket
  readonly source: StreamSource
  readonly clock: Clock
  /** Called for an unreadable message. */
  readonly onBadMessage: (reason: string) => void
  /** Called once, when the connection is closed. */
  readonly onClosed: () => void
}

/**
 * Maximum buffered octets for 8,000 octets per second: over 10 s of audio. A far side that lags further
 * behind is useless to a caller.
 */
const maxBufferedBytes = 262_144
/** Maximum number of unreadable messages; beyond it, the stream fails. */
const maxBadMessages = 50
/** Maximum number of pending marks. */
const maxPendingMarks = 1_000
/** Maximum wait for the far side's close, in ms. */
const maxCloseMs = 2_000

/**
 * Stream of one leg's audio over a WebSocket. It sends connected, start, media, dtmf, mark and stop, and
 * receives media, mark, clear and dtmf.
 */
export class WebSocketStream implements AudioStream {
  readonly id: string
  readonly ended: Promise<StreamEnd>
  readonly #options: WebSocketStreamOptions
  readonly #deps: WebSocketStreamDeps
  readonly #writer: StreamWriter
  readonly #decoder: ChunkDecoder
  readonly #settle: (end: StreamEnd) => void
  #state: 'connecting' | 'open' | 'over' = 'connecting'
  #port: MediaPort
  #tap: Tap | undefined
  #timer: Timer
  #bad = 0
  #marks = 0

  constructor(options: WebSocketStreamOptions, deps: WebSocketStreamDeps) {
    const { connectTimeoutMs, facts } = options
    const { socket, source, clock } = deps
    this.#options = options
    this.#deps = deps
    this.#port = source.port
    this.id = facts.streamSid
    this.#writer = new StreamWriter(facts)
    this.#decoder = new ChunkDecoder(facts.format)
    const { promise, resolve } = Promise.withResolvers<StreamEnd>()
    this.ended = promise
    this.#settle = resolve
    this.#timer = clock.after(connectTimeoutMs, () =>
      this.#fail(`there was no connection within ${connectTimeoutMs} ms`),
    )
    socket.on('open', () => this.#opened())
    socket.on('message', (data, binary) => this.#received(data, binary))
    socket.on('error', ({ code, message }: NodeJS.ErrnoException) => this.#fail(code ?? message))
    socket.on('close', (code) => this.#closed(code))
  }

  digit(digit: string): void {
    this.#send(() => this.#writer.dtmf(digit))
  }

  moveTo(port: MediaPort): void {
    this.#port = port
    this.#tap?.moveTo(port)
  }

  stop(): void {
    if (this.#state === 'over') return
    const { socket, clock } = this.#deps
    for (const track of ['in', 'out'] as const) this.#send(() => this.#writer.rest(track))
    this.#send(() => this.#writer.stop())
    const connecting = this.#state === 'connecting'
    this.#over({ kind: 'stopped' })
    if (connecting) {
      socket.terminate()
      return
    }
    socket.close(1000)
    this.#timer = clock.after(maxCloseMs, () => socket.terminate())
  }

  #opened(): void {
    if (this.#state !== 'connecting') return
    this.#state = 'open'
    this.#timer.cancel()
    const { tracks, facts } = this.#options
    this.#send(() => this.#writer.connected())
    this.#send(() => this.#writer.start())
    this.#tap = this.#port.tap({ tracks, sampleRate: tapRateOf(facts.format) })
    this.#tap.onFrame((frame) => this.#send(() => this.#writer.media(frame)))
    this.#tap.onClosed(() => this.stop())
  }

  /** Sends a message, if there is any. */
  #send(write: () => string | undefined): void {
    if (this.#state !== 'open') return
    const { socket } = this.#deps
    const message = write()
    if (message === undefined) return
    if (socket.bufferedAmount > (maxBufferedBytes * octetsOf(this.#options.facts.format)) / 8000)
      this.#fail('the far side takes the audio too slowly')
    else socket.send(message)
  }

  #received(data: RawData, binary: boolean): void {
    if (this.#state !== 'open' || !this.#options.bidirectional) return
    try {
      if (binary) throw new Error('a text message expected')
      this.#obey(readCommand(String(data), this.#options.facts))
    } catch (error) {
      this.#bad++
      this.#deps.onBadMessage((error as Error).message)
      if (this.#bad >= maxBadMessages) this.#fail(`${maxBadMessages} messages could not be read`)
    }
  }

  #obey(command: StreamCommand): void {
    switch (command.kind) {
      case 'media':
        this.#tap?.speak(this.#decoder.read(command.payload))
        break
      case 'mark':
        this.#mark(command.name)
        break
      case 'clear':
        this.#tap?.clear()
        break
      case 'dtmf':
        this.#deps.source.sendDigits(command.digits)
    }
  }

  /** Sends a mark back when all audio before the mark was played or dropped. */
  #mark(name: string): void {
    if (!this.#tap || this.#marks >= maxPendingMarks) return
    this.#marks++
    void this.#tap.spoken().then(() => {
      this.#marks--
      this.#send(() => this.#writer.mark(name))
    })
  }

  #fail(reason: string): void {
    if (this.#state === 'over') return
    this.#over({ kind: 'failed', reason })
    this.#deps.socket.terminate()
  }

  #closed(code: number): void {
    if (code === 1006) this.#fail('the connection was lost')
    this.#over({ kind: 'closed' })
    this.#timer.cancel()
    this.#deps.onClosed()
  }

  #over(end: StreamEnd): void {
    if (this.#state === 'over') return
    this.#state = 'over'
    this.#timer.cancel()
    this.#tap?.close()
    this.#settle(end)
  }
}
