import { convertInPlace } from '../codecs/g711.ts'
import type { Codecs } from '../codecs/types.ts'
import type { AudioCodec, FarEnd, PcmRate } from '../types.ts'
import { writeComfortNoise } from './comfort-noise.ts'
import { encodedRate, OPUS_SILENCE, packetizerFor, sameEncoding, silentFrame } from './encoding.ts'
import { EVENT_BYTES } from './event-names.ts'
import { type EventPacket, EventsOut } from './events-out.ts'
import { HEADER_BYTES, type RtpView } from './packet.ts'
import type { Packetizer } from './packetizer.ts'
import { FRAMES } from './rate.ts'
import { clockRate, isG711, span } from './span.ts'
import { StreamOut, type StreamSeed } from './stream-out.ts'
import { type PlayedListener, Talk } from './talk.ts'

/** Packets of silence that open the way to a new far end. */
const OPENING_PACKETS = 3
/** With no frame for longer than this the thread stood still: the sound goes on from now, in ms. */
const MAX_BEHIND_MS = 200
/** Where what is bridged falls silent, silence is sent as audio for so long, so that the far end has no loss to conceal: 1 s of frames. */
const HANG_FRAMES = 50
/** With nothing sent for so long comfort noise is, where the far end takes it; and again after each further second. In ms. */
const NOISE_AFTER_MS = 200
const NOISE_EVERY_MS = 1000
/** Level of that noise, in dBov: a quiet line. */
const NOISE_DB = -70
/**
 * With nothing sent for so long one packet of silence is, in ms: address translators keep a binding for 30 s and more (RFC 6263 section 4), the
 * time-outs of carriers begin at 10 s.
 */
const KEEP_ALIVE_MS = 5000

/** Puts `length` bytes of `packet` from `offset` on the wire; false: it must not be sent. */
export type SendPacket = (packet: Buffer, offset: number, length: number) => boolean

/** What a sender is made of. */
export interface SenderOptions {
  readonly seed: StreamSeed
  readonly codecs: Codecs
  readonly send: SendPacket
  /** Called when the last frame of a prompt was sent. */
  readonly onPlayed: PlayedListener
}

/**
 * The sending half of a port. What is sent is, in this order: a digit, else what is made here ({@link Talk}), else what is bridged, be it
 * packets that are passed on or frames that are encoded, else (once per far end) the opening. The opening is a few packets of silence: a
 * far end behind a translator, or one that learns our address from our first packet, would otherwise never let its own audio come to us.
 * After it, silence is comfort noise now and then, or a packet that keeps the way open.
 */
export class Sender {
  readonly stream: StreamOut
  readonly talk: Talk
  packets = 0
  /** Of payload. */
  octets = 0
  #codecs: Codecs
  #send: SendPacket
  #far: FarEnd | undefined
  #allowed = false
  #packetizer: Packetizer | undefined
  #digits = new EventsOut()
  /** A packet of the event that is under way has been sent. */
  #eventBegun = false
  #openingLeft = 0
  /** Who spoke in the last frame, and how long its silence is still sent. */
  #speaker: object | undefined
  #hang = 0
  #framedAt = 0
  #sentAt: number | undefined
  #noisy = false

  constructor({ seed, codecs, send, onPlayed }: SenderOptions) {
    this.stream = new StreamOut(seed)
    this.talk = new Talk(onPlayed)
    this.#codecs = codecs
    this.#send = send
  }

  /** Whether ticks are needed every 10 ms. */
  get busy(): boolean {
    return this.#far !== undefined && (this.#digits.busy || this.#packetizer?.whole === true)
  }

  /** Whether {@link frame} has to be called although nothing is bridged. */
  get framed(): boolean {
    if (!this.#far) return false
    if (this.talk.waiting || this.#hang > 0 || this.#packetizer?.empty === false) return true
    return this.#openingLeft > 0 && this.#allowed
  }

  /** Rate of the frames that are encoded. */
  get rate(): PcmRate {
    return this.#far ? encodedRate(this.#far.codec) : 8000
  }

  /** Whether something goes before what is bridged. */
  get interrupted(): boolean {
    return !this.#allowed || this.#digits.sounding || this.talk.busy
  }

  /** Tells or changes the far end; `allowed` when it can be sent to and the direction lets us. */
  set(far: FarEnd, allowed: boolean): void {
    const before = this.#far
    const moved = before?.address !== far.address || before.port !== far.port
    if (allowed && (moved || !this.#allowed)) this.#openingLeft = OPENING_PACKETS
    // A refresh that changes nothing of these is not to be heard.
    const recoded = !before || !sameEncoding(before, far)
    if (moved || recoded || allowed !== this.#allowed) this.stream.interrupt()
    if (recoded) this.#dropEncoder()
    this.#far = far
    this.#allowed = allowed
    this.#digits.rate = (far.telephoneEventRate ?? 8000) / 1000
    this.stream.setClock(clockRate(far.codec))
  }

  /** Queues digits; `done` tells whether they were sent. */
  sendDigits(digits: string, done: (sent: boolean) => void): void {
    if (!this.#allowed || this.#far?.telephoneEvent === undefined) done(false)
    else this.#digits.add(digits, done)
  }

  /** Gives up what is queued. */
  close(): void {
    this.talk.clear()
    this.#digits.clear()
    this.#openingLeft = 0
    this.#hang = 0
    this.#dropEncoder()
  }

  /**
   * Passes a packet on that `source` received, rewritten in place. `codec` is one that `passes` as the far end's; undefined: it is comfort
   * noise, which is left out where the far end takes none.
   */
  forward(now: number, source: object, packet: Buffer, view: RtpView, codec: AudioCodec | undefined): void {
    const far = this.#far
    if (!far || !this.#allowed) return
    const { start, end, ssrc, sequence } = view
    if (this.talk.busy || this.#digits.sounding) {
      // It has no place here any more, even if nothing takes that place.
      this.stream.interrupt(source)
      return
    }
    const payloadType = codec ? far.payloadType : far.comfortNoise
    if (payloadType === undefined || start === end) {
      this.stream.leaveOut(source, ssrc, sequence)
      return
    }
    this.#openingLeft = 0
    // What frames have left to say is over.
    this.#hang = 0
    if (this.#packetizer) this.#packetizer.clear()
    // Noise has no length; a packet's time keeps what follows from standing on the same timestamp.
    const units = codec ? span(codec, packet, start, end) : clockRate(far.codec) / FRAMES
    if (!this.stream.forward(now, source, ssrc, sequence, view.timestamp, units, view.marker)) return
    if (codec !== far.codec && codec && isG711(codec)) convertInPlace(codec, packet, start, end)
    // The old header is at least as long as the new one, so there is room before the payload.
    this.stream.write(packet, start - HEADER_BYTES, payloadType)
    this.#emit(now, packet, start - HEADER_BYTES, end - start)
    this.#noisy = codec === undefined
  }

  /** Every 10 ms while {@link busy}, else every 100 ms: sends what is due besides frames. */
  tick(now: number): void {
    if (!this.#far) return
    if (this.#digits.busy) this.#digits.tick(now, (event) => this.#sendEvent(now, event))
    const packetizer = this.#packetizer
    while (packetizer?.whole) this.#sendPacket(now, packetizer)
    if (!this.#digits.busy) this.#keepAlive(now)
  }

  /**
   * Every 20 ms: makes what is to be heard now, and sends it when it fills a packet. `bridged` is what `source` says, at {@link rate}.
   * Gives what the far end is to hear of it, valid until the next time. On hold prompts go on unheard.
   */
  frame(now: number, bridged: Int16Array | undefined, source: object): Int16Array | undefined {
    if (!this.#far) return undefined
    // Only for what is made of frames: packets that are passed on meanwhile know their own time.
    if (now - this.#framedAt > MAX_BEHIND_MS && this.#speaker) this.stream.interrupt(this.#speaker)
    this.#framedAt = now
    if (this.#digits.sounding) {
      this.#packetizer?.clear()
      return undefined
    }
    const speaker = this.talk.compose(this.rate)
    const frame = speaker ? this.talk.frame : this.#bridged(bridged)
    if (this.#allowed) this.#say(now, frame, speaker ?? (frame ? source : undefined))
    this.talk.finish()
    return this.#allowed ? frame : undefined
  }

  /** What is bridged, with its silence at the end. */
  #bridged(frame: Int16Array | undefined): Int16Array | undefined {
    if (frame) this.#hang = this.#far!.comfortNoise === undefined ? HANG_FRAMES : 0
    else if (this.#hang === 0) return undefined
    else this.#hang--
    return frame ?? silentFrame(this.rate)
  }

  #say(now: number, frame: Int16Array | undefined, speaker: object | undefined): void {
    if (speaker) this.#openingLeft = 0
    else if (!frame && this.#openingLeft > 0 && this.#far!.codec === 'opus' && !this.#packetizer) {
      // Most browsers' ports only pass packets on: they need no encoder for this.
      this.#openingLeft--
      this.#sendOpusSilence(now)
      return
    }
    const sounds = frame !== undefined || this.#openingLeft > 0
    const packetizer = sounds ? this.#encoder() : this.#packetizer
    if (!packetizer) return
    if (sounds) {
      this.#speaker = speaker
      packetizer.push(frame ?? silentFrame(this.rate))
    } else if (!packetizer.empty) packetizer.push(undefined)
    else if (this.#speaker) {
      // It may speak again before anything else does.
      this.stream.interrupt(this.#speaker)
      this.#speaker = undefined
    }
    while (packetizer.due) this.#sendPacket(now, packetizer)
  }

  #encoder(): Packetizer {
    this.#packetizer ??= packetizerFor(this.#codecs, this.#far!)
    return this.#packetizer
  }

  #dropEncoder(): void {
    this.#packetizer?.close()
    this.#packetizer = undefined
  }

  #sendPacket(now: number, packetizer: Packetizer): void {
    const packet = Buffer.allocUnsafe(HEADER_BYTES + packetizer.maxBytes)
    const bytes = packetizer.take(packet, HEADER_BYTES)
    if (this.#openingLeft > 0) this.#openingLeft--
    if (bytes === 0) {
      this.stream.skip(packetizer.units)
      return
    }
    if (this.#speaker) this.stream.own(now, this.#speaker, packetizer.units)
    else this.stream.silence(now, packetizer.units)
    this.stream.write(packet, 0, this.#far!.payloadType)
    this.#emit(now, packet, 0, bytes)
  }

  /** Nothing was said for a while: comfort noise, or a packet of silence. */
  #keepAlive(now: number): void {
    if (!this.#allowed || this.#sentAt === undefined || this.#openingLeft > 0) return
    const { comfortNoise } = this.#far!
    const after = comfortNoise === undefined ? KEEP_ALIVE_MS : this.#noisy ? NOISE_EVERY_MS : NOISE_AFTER_MS
    if (now - this.#sentAt < after) return
    if (comfortNoise !== undefined) {
      const packet = Buffer.allocUnsafe(HEADER_BYTES + 1)
      this.#sendSilence(now, packet, comfortNoise, writeComfortNoise(NOISE_DB, packet, HEADER_BYTES))
    } else if (this.#far!.codec === 'opus') {
      this.#sendOpusSilence(now)
    } else {
      const packetizer = this.#encoder()
      const packet = Buffer.allocUnsafe(HEADER_BYTES + packetizer.maxBytes)
      while (!packetizer.whole) packetizer.push(silentFrame(this.rate))
      this.#sendSilence(now, packet, this.#far!.payloadType, packetizer.take(packet, HEADER_BYTES))
      packetizer.clear()
    }
    this.#noisy = comfortNoise !== undefined
  }

  #sendOpusSilence(now: number): void {
    const packet = Buffer.allocUnsafe(HEADER_BYTES + OPUS_SILENCE.length)
    this.#sendSilence(now, packet, this.#far!.payloadType, OPUS_SILENCE.copy(packet, HEADER_BYTES))
  }

  #sendSilence(now: number, packet: Buffer, payloadType: number, bytes: number): void {
    this.stream.silence(now, this.#packetizer?.units ?? clockRate(this.#far!.codec) / FRAMES)
    this.stream.write(packet, 0, payloadType)
    this.#emit(now, packet, 0, bytes)
  }

  #sendEvent(now: number, event: EventPacket): void {
    const payloadType = this.#far?.telephoneEvent
    if (event.first) this.#eventBegun = false
    // The far end may have gone on hold, or stopped taking events, in the middle of a string.
    if (!this.#allowed || payloadType === undefined) return
    this.stream.event(now, event.samples / this.#digits.rate, !this.#eventBegun)
    this.#eventBegun = true
    const packet = this.stream.make(payloadType, EVENT_BYTES)
    event.payload.copy(packet, HEADER_BYTES)
    this.#emit(now, packet, 0, EVENT_BYTES)
  }

  #emit(now: number, packet: Buffer, offset: number, payloadBytes: number): void {
    if (!this.#send(packet, offset, HEADER_BYTES + payloadBytes)) return
    this.packets++
    this.octets += payloadBytes
    this.#sentAt = now
    this.#noisy = false
  }
}
