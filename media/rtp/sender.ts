import { convertInPlace, SILENCE } from '../codecs/g711.ts'
import type { AudioCodec, FarEnd } from '../types.ts'
import { EVENT_BYTES } from './event-names.ts'
import { type EventPacket, EventsOut } from './events-out.ts'
import { HEADER_BYTES, type RtpView } from './packet.ts'
import { PromptSource } from './prompt.ts'
import { StreamOut, type StreamSeed } from './stream-out.ts'

/** Packets of silence that open the way to a new far end. */
const OPENING_PACKETS = 3
/** A frame may go out this much before its time, as timers come by whole ticks, in ms. */
const LEEWAY_MS = 5
/** Behind by more than this, frames are not made up for in a burst, but the sound goes on from now, in ms. */
const MAX_BEHIND_MS = 200

/** Puts `length` bytes of `packet` from `offset` on the wire. */
export type SendPacket = (packet: Buffer, offset: number, length: number) => void

/** A sound that is being played. */
interface Playing {
  readonly id: number
  readonly source: PromptSource
  /** When its next frame is due; undefined until the first tick, and after it was held up by digits. */
  nextAt: number | undefined
}

/**
 * The sending half of a port. What is sent is, in this order: a digit, else the prompt, else what is forwarded, else (once per far
 * end) the opening. The opening is a few packets of silence: a far end behind a translator, or one that learns our address from our
 * first packet, would otherwise never let its own audio come to us. After it, nothing to say means nothing sent.
 */
export class Sender {
  readonly stream: StreamOut
  packets = 0
  /** Of payload. */
  octets = 0
  #send: SendPacket
  #onPlayed: (id: number) => void
  #far: FarEnd | undefined
  #allowed = false
  #ptime = 20
  #playing: Playing | undefined
  #digits = new EventsOut()
  #opening: { left: number; nextAt: number | undefined } = { left: 0, nextAt: undefined }

  /** `onPlayed` is called when the last frame of a prompt was sent. */
  constructor(seed: StreamSeed, send: SendPacket, onPlayed: (id: number) => void) {
    this.stream = new StreamOut(seed)
    this.#send = send
    this.#onPlayed = onPlayed
  }

  /** Whether ticks are needed at the pace of packets. */
  get busy(): boolean {
    return (
      this.#far !== undefined && (this.#playing !== undefined || this.#digits.busy || this.#opening.left > 0)
    )
  }

  /** Tells or changes the far end; `allowed` when it can be sent to and the direction lets us. */
  set(far: FarEnd, allowed: boolean): void {
    const before = this.#far
    const moved = before?.address !== far.address || before.port !== far.port
    if (allowed && (moved || !this.#allowed)) this.#opening = { left: OPENING_PACKETS, nextAt: undefined }
    this.#far = far
    this.#allowed = allowed
    this.#ptime = far.ptime !== undefined && far.ptime >= 10 && far.ptime <= 120 ? far.ptime : 20
    this.stream.interrupt()
  }

  /** Plays in place of what was being played. `loop` 0 is for ever. */
  play(id: number, samples: Int16Array, loop: number, volumeDb: number): void {
    this.#playing = { id, source: new PromptSource(samples, loop, volumeDb), nextAt: undefined }
  }

  /** Stops that sound, if it is still the one. */
  stop(id: number): void {
    if (this.#playing?.id === id) this.#playing = undefined
  }

  /** Queues digits; `done` tells whether they were sent. */
  sendDigits(digits: string, done: (sent: boolean) => void): void {
    if (!this.#allowed || this.#far?.telephoneEvent === undefined) done(false)
    else this.#digits.add(digits, done)
  }

  /** Gives up what is queued. */
  close(): void {
    this.#playing = undefined
    this.#digits.clear()
    this.#opening.left = 0
  }

  /** Passes a packet on that `source` received; the packet is rewritten in place. */
  forward(now: number, source: object, packet: Buffer, view: RtpView, codec: AudioCodec): void {
    const far = this.#far
    if (!far || !this.#allowed) return
    const { start, end } = view
    if (this.#playing || this.#digits.sounding || start === end) return
    this.#opening.left = 0
    const samples = end - start
    if (!this.stream.forward(now, source, view.ssrc, view.sequence, view.timestamp, samples, view.marker))
      return
    if (codec !== far.codec) convertInPlace(codec, packet, start, end)
    // The old header is at least as long as the new one, so there is room before the payload.
    this.stream.write(packet, start - HEADER_BYTES, far.payloadType)
    this.#emit(packet, start - HEADER_BYTES, samples)
  }

  /** Sends what is due. */
  tick(now: number): void {
    if (!this.#far) return
    if (this.#digits.busy) this.#digits.tick(now, (event) => this.#sendEvent(now, event))
    if (this.#digits.sounding) {
      if (this.#playing) this.#playing.nextAt = undefined
    } else if (this.#playing) this.#tickPrompt(now, this.#playing)
    else if (this.#opening.left > 0) this.#tickOpening(now)
  }

  #tickPrompt(now: number, playing: Playing): void {
    playing.nextAt ??= now
    if (now - playing.nextAt > MAX_BEHIND_MS) {
      playing.nextAt = now
      this.stream.interrupt()
    }
    while (!playing.source.ended && playing.nextAt - now <= LEEWAY_MS) {
      this.#sendFrame(now, playing.source, playing.source)
      playing.nextAt += this.#ptime
    }
    if (!playing.source.ended) return
    this.#playing = undefined
    this.#onPlayed(playing.id)
  }

  #tickOpening(now: number): void {
    const opening = this.#opening
    opening.nextAt ??= now
    while (opening.left > 0 && opening.nextAt - now <= LEEWAY_MS) {
      this.#sendFrame(now, opening, undefined)
      opening.nextAt += this.#ptime
      opening.left--
    }
  }

  /** Sends one frame of `prompt`, or of silence. On hold the prompt goes on unheard. */
  #sendFrame(now: number, source: object, prompt: PromptSource | undefined): void {
    const { codec, payloadType } = this.#far!
    const samples = this.#ptime * 8
    const packet = Buffer.allocUnsafe(HEADER_BYTES + samples)
    if (prompt) prompt.take(codec, samples, packet, HEADER_BYTES)
    else packet.fill(SILENCE[codec], HEADER_BYTES)
    if (!this.#allowed) {
      this.stream.interrupt()
      return
    }
    this.stream.own(now, source, samples)
    this.stream.write(packet, 0, payloadType)
    this.#emit(packet, 0, samples)
  }

  #sendEvent(now: number, event: EventPacket): void {
    const payloadType = this.#far?.telephoneEvent
    // The far end may have gone on hold, or stopped taking events, in the middle of a string.
    if (!this.#allowed || payloadType === undefined) return
    this.stream.event(now, event.samples, event.first)
    const packet = this.stream.make(payloadType, EVENT_BYTES)
    event.payload.copy(packet, HEADER_BYTES)
    this.#emit(packet, 0, EVENT_BYTES)
  }

  #emit(packet: Buffer, offset: number, payloadBytes: number): void {
    this.packets++
    this.octets += payloadBytes
    this.#send(packet, offset, HEADER_BYTES + payloadBytes)
  }
}
