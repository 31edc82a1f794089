import type { RawData, WebSocket } from 'ws'
import type { StreamEnd } from '../../handlers/verbs.ts'
import type { MediaPort, Tap, TapRequest } from '../../media/types.ts'
import type { AudioStream, StreamSource } from '../calls/verbs/call-streams.ts'
import type { Clock, Timer } from '../core/clock.ts'
import { ChunkDecoder, octetsOf, tapRateOf } from './stream-format.ts'
import { readCommand, type StreamCommand, type StreamFacts, StreamWriter } from './stream-messages.ts'

/** What a stream to a WebSocket works with. */
export interface WebSocketStreamDeps {
  /** Just made, so nothing has happened to it yet. */
  readonly socket: WebSocket
  readonly source: StreamSource
  readonly facts: StreamFacts
  readonly tracks: TapRequest['tracks']
  readonly bidirectional: boolean
  readonly clock: Clock
  readonly connectTimeoutMs: number
  /** Told of a message that cannot be read. */
  readonly onBadMessage: (reason: string) => void
  /** Called once, when the connection is closed. */
  readonly onClosed: () => void
}

/** Octets that may wait to be sent of what has 8,000 in a second: 10 s of audio and more, and who is so far behind is of no use to a caller. */
const maxBufferedBytes = 262_144
/** Messages that cannot be read, before the far side is given up. */
const maxBadMessages = 50
/** Marks that may wait for their audio. */
const maxPendingMarks = 1_000
/** Longest wait for the far side's end of the connection, in ms. */
const maxCloseMs = 2_000

/** One leg's audio over a WebSocket, in the messages of the family: connected, start, media, dtmf, mark, stop, and back media, mark, clear, dtmf. */
export class WebSocketStream implements AudioStream {
  readonly id: string
  readonly ended: Promise<StreamEnd>
  readonly #parts: WebSocketStreamDeps
  readonly #writer: StreamWriter
  readonly #decoder: ChunkDecoder
  readonly #settle: (end: StreamEnd) => void
  #state: 'connecting' | 'open' | 'over' = 'connecting'
  #port: MediaPort
  #tap: Tap | undefined
  #timer: Timer
  #bad = 0
  #marks = 0

  constructor(parts: WebSocketStreamDeps) {
    const { socket, source, clock, connectTimeoutMs, facts } = parts
    this.#parts = parts
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
    const { socket, clock } = this.#parts
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
    const { tracks, facts } = this.#parts
    this.#send(() => this.#writer.connected())
    this.#send(() => this.#writer.start())
    this.#tap = this.#port.tap({ tracks, sampleRate: tapRateOf(facts.format) })
    this.#tap.onFrame((frame) => this.#send(() => this.#writer.media(frame)))
    this.#tap.onClosed(() => this.stop())
  }

  /** Sends what is written, if anything. */
  #send(write: () => string | undefined): void {
    if (this.#state !== 'open') return
    const { socket, facts } = this.#parts
    const message = write()
    if (message === undefined) return
    if (socket.bufferedAmount > (maxBufferedBytes * octetsOf(facts.format)) / 8000)
      this.#fail('the far side takes the audio too slowly')
    else socket.send(message)
  }

  #received(data: RawData, binary: boolean): void {
    if (this.#state !== 'open' || !this.#parts.bidirectional) return
    try {
      if (binary) throw new Error('a text message expected')
      this.#obey(readCommand(String(data), this.#parts.facts))
    } catch (error) {
      this.#bad++
      this.#parts.onBadMessage((error as Error).message)
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
        this.#parts.source.sendDigits(command.digits)
    }
  }

  /** A mark comes back when all audio before it was heard, or dropped. */
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
    this.#parts.socket.terminate()
  }

  #closed(code: number): void {
    if (code === 1006) this.#fail('the connection was lost')
    this.#over({ kind: 'closed' })
    this.#timer.cancel()
    this.#parts.onClosed()
  }

  #over(end: StreamEnd): void {
    if (this.#state === 'over') return
    this.#state = 'over'
    this.#timer.cancel()
    this.#tap?.close()
    this.#settle(end)
  }
}
