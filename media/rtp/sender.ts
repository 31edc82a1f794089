import { convertInPlace } from '../codecs/g711.ts'
import type { Codecs } from '../codecs/types.ts'
import type { AudioCodec, FarEnd, PcmRate } from '../types.ts'
import { writeComfortNoise } from './comfort-noise.ts'
import {
  encodedRate,
  opusSilence,
  packetizerFor,
  sameEncoding,
  sharedFormat,
  silentFrame,
  wantedMs,
} from './encoding.ts'
import { OutgoingStream, type StreamSeed } from './outgoing-stream.ts'
import { headerBytes, type RtpView } from './packet.ts'
import { clockRate, isG711, packetDuration } from './packet-duration.ts'
import type { Packetizer } from './packetizer.ts'
import { type PlayedListener, PromptMixer } from './prompt-mixer.ts'
import { framesPerSecond } from './rate-adapter.ts'
import type { SharedAudio } from './shared-audio.ts'
import type { OwnEncoder } from './sharing.ts'
import { eventBytes } from './telephone-event.ts'
import { type EventPacket, TelephoneEventSender } from './telephone-event-sender.ts'

/** Length of a frame, in ms. */
const frameMs = 1000 / framesPerSecond
/** Number of silent packets that are sent first to a new far end; see {@link Sender}. */
const openingPackets = 3
/** Time without a frame that indicates a stalled thread, in ms; the audio continues from now. */
const maxBehindMs = 200
/** Frames of silence sent as audio after joined audio stops (1 s), so that the far end detects no loss. */
const hangoverFrames = 50
/**
 * Time without a packet after which comfort noise is sent if the far end supports it, and its repetition
 * interval, in ms.
 */
const noiseAfterMs = 200
const noiseEveryMs = 1000
/** Level of the comfort noise, in dBov: a quiet line. */
const noiseDb = -70
/**
 * Time without a packet after which one packet of silence is sent, in ms. NAT bindings last 30 s and more
 * (RFC 6263 section 4); time-outs of carriers start at 10 s.
 */
const keepAliveMs = 5000

/** Room for packets that are encoded but not sent. */
const discarded = new Uint8Array(1500)

/** Sends `length` bytes of `packet` from `offset`. Returns false if the packet must not be sent. */
export type SendPacket = (packet: Buffer, offset: number, length: number) => boolean

/** Collaborators of a {@link Sender}. */
export interface SenderOptions {
  readonly seed: StreamSeed
  readonly codecs: Codecs
  readonly send: SendPacket
  /** Called when the last frame of a prompt was sent. */
  readonly onPlayed: PlayedListener
}

/**
 * Sending half of a port. It sends, in order of precedence: digits, local audio ({@link PromptMixer}), joined
 * audio (forwarded packets or encoded frames), and the opening (once per far end).
 *
 * The opening is a few packets of silence. Without it, a far end behind NAT, or one that latches on to the
 * first packet, would never send its own audio. Later silences are filled with occasional comfort noise or
 * keep-alive packets.
 */
export class Sender {
  readonly stream: OutgoingStream
  readonly promptMixer: PromptMixer
  packets = 0
  /** Number of payload octets. */
  octets = 0
  #codecs: Codecs
  #send: SendPacket
  #far: FarEnd | undefined
  #isAllowed = false
  #packetizer: Packetizer | undefined
  /** Name of the encoding that others may share; see {@link sharedFormat}. */
  #format: string | undefined
  #audioRate: PcmRate | undefined
  #collectingMs = 0
  #digits = new TelephoneEventSender()
  /** Whether a packet of the current event has been sent. */
  #hasEventBegun = false
  #openingLeft = 0
  /** Source of the last frame, and remaining frames of silence after joined audio. */
  #speaker: object | undefined
  #hang = 0
  #framedAt = 0
  #sentAt: number | undefined
  #isNoisy = false

  constructor({ seed, codecs, send, onPlayed }: SenderOptions) {
    this.stream = new OutgoingStream(seed)
    this.promptMixer = new PromptMixer(onPlayed)
    this.#codecs = codecs
    this.#send = send
  }

  /** Whether ticks are needed every 10 ms. */
  get isBusy(): boolean {
    return this.#far !== undefined && (this.#digits.isBusy || this.#packetizer?.hasPacket === true)
  }

  /** Whether {@link frame} must be called although no audio is joined. */
  get isFramed(): boolean {
    if (!this.#far) return false
    if (this.promptMixer.isWaiting || this.#hang > 0 || this.#packetizer?.isEmpty === false) return true
    return this.#openingLeft > 0 && this.#isAllowed
  }

  /** Rate of the encoded frames. */
  get rate(): PcmRate {
    return this.#far ? encodedRate(this.#far.codec, this.#audioRate) : 8000
  }

  /** Whether the next frame may be sent by {@link frameShared}: no other audio has precedence. */
  get canShare(): boolean {
    if (!this.#isAllowed || this.#format === undefined || this.#digits.isKeyDown) return false
    return !this.promptMixer.isWaiting && !this.promptMixer.isPlaying && this.#packetizer?.isEmpty !== false
  }

  /** The own encoder, for {@link Sharing}. */
  get encoder(): OwnEncoder {
    if (!this.#packetizer) return 'none'
    const { codec } = this.#far!
    return codec === 'opus' || codec === 'G722' ? 'adaptive' : 'stateless'
  }

  /** Time for which the first frame of a packet waits for the last one, in ms. */
  get collectingMs(): number {
    return this.#collectingMs
  }

  /** Whether silence is sent as comfort noise. */
  get hasComfortNoise(): boolean {
    return this.#far?.comfortNoise !== undefined
  }

  /** Whether joined audio is currently suppressed. */
  get isInterrupted(): boolean {
    return !this.#isAllowed || this.#digits.isKeyDown || this.promptMixer.isPlaying
  }

  /** Sets or changes the far end; `allowed`: address and direction permit sending. */
  set(far: FarEnd, allowed: boolean): void {
    const before = this.#far
    const moved = before?.address !== far.address || before.port !== far.port
    if (allowed && (moved || !this.#isAllowed)) this.#openingLeft = openingPackets
    // A session refresh that changes none of these values must be inaudible.
    const recoded = !before || !sameEncoding(before, far)
    if (moved || recoded || allowed !== this.#isAllowed) this.stream.interrupt()
    if (recoded) this.#dropEncoder()
    this.#format = sharedFormat(far)
    this.#collectingMs = Math.max(0, (wantedMs(far) ?? frameMs) - frameMs)
    this.#far = far
    this.#isAllowed = allowed
    this.#digits.rate = (far.telephoneEventRate ?? 8000) / 1000
    this.stream.setClock(clockRate(far.codec))
  }

  /** Sets the rate of the joined audio, which only Opus follows; undefined: the default. */
  setAudioRate(rate: PcmRate | undefined): void {
    const before = this.rate
    this.#audioRate = rate
    if (this.rate !== before) this.#dropEncoder()
  }

  /** Queues digits; `done` receives whether they were sent. */
  sendDigits(digits: string, done: (sent: boolean) => void): void {
    if (!this.#isAllowed || this.#far?.telephoneEvent === undefined) done(false)
    else this.#digits.add(digits, done)
  }

  /** Cancels everything queued. */
  close(): void {
    this.promptMixer.clear()
    this.#digits.clear()
    this.#openingLeft = 0
    this.#hang = 0
    this.#dropEncoder()
  }

  /**
   * Forwards a packet that `source` received, rewritten in place. `codec` can be forwarded to the far end's
   * codec. Undefined is comfort noise, which is omitted if the far end does not support it.
   */
  forward(now: number, source: object, packet: Buffer, view: RtpView, codec: AudioCodec | undefined): void {
    const far = this.#far
    if (!far || !this.#isAllowed) return
    const { start, end, ssrc, sequence } = view
    if (this.promptMixer.isPlaying || this.#digits.isKeyDown) {
      // The next packet of this source must not continue the numbering, even if no other source sends in
      // between.
      this.stream.interrupt(source)
      return
    }
    const payloadType = codec ? far.payloadType : far.comfortNoise
    if (payloadType === undefined || start === end) {
      this.stream.leaveOut(source, ssrc, sequence)
      return
    }
    this.#openingLeft = 0
    // Cancels the pending frames of silence: joined audio has resumed.
    this.#hang = 0
    if (this.#packetizer) this.#packetizer.clear()
    // Noise has no duration; counting one frame keeps the next packet off the same timestamp.
    const units = codec ? packetDuration(codec, packet, start, end) : clockRate(far.codec) / framesPerSecond
    if (!this.stream.forward(now, source, ssrc, sequence, view.timestamp, units, view.marker)) return
    if (codec !== far.codec && codec && isG711(codec)) convertInPlace(codec, packet, start, end)
    // The old header is at least as long as the new one, which leaves room before the payload.
    this.stream.write(packet, start - headerBytes, payloadType)
    this.#emit(now, packet, start - headerBytes, end - start)
    this.#isNoisy = codec === undefined
  }

  /** Sends what is due besides frames. Must be called every 10 ms while {@link isBusy}, else every 100 ms. */
  tick(now: number): void {
    if (!this.#far) return
    const packetizer = this.#packetizer
    // Audio that is due belongs before the event: within it, it would move the timestamp of the event.
    while (packetizer?.hasPacket) this.#sendPacket(now, packetizer)
    if (this.#digits.isBusy) this.#digits.tick(now, (event) => this.#sendEvent(now, event))
    if (!this.#digits.isBusy) this.#keepAlive(now)
  }

  /**
   * Composes and sends 20 ms; must be called every 20 ms. `bridged` is the audio of `source`, at {@link
   * rate}. Returns the audio for the far end, valid until the next call. Prompts continue unheard during
   * hold.
   */
  frame(now: number, bridged: Int16Array | undefined, source: object): Int16Array | undefined {
    if (!this.#far) return undefined
    // Only for framed audio: forwarded packets have their own timing.
    if (now - this.#framedAt > maxBehindMs && this.#speaker) this.stream.interrupt(this.#speaker)
    this.#framedAt = now
    if (this.#digits.isKeyDown) {
      this.#packetizer?.clear()
      return undefined
    }
    const speaker = this.promptMixer.compose(this.rate, this.#isAllowed)
    const frame = speaker ? this.promptMixer.frame : this.#bridged(bridged)
    if (this.#isAllowed) this.#say(now, frame, speaker ?? (frame ? source : undefined))
    this.promptMixer.finish()
    return this.#isAllowed ? frame : undefined
  }

  /**
   * Sends the current 20 ms of `audio`, which others hear too, in place of {@link frame}. Must only be called
   * if {@link canShare}. Returns the audio for the far end, valid until the next call.
   */
  frameShared(now: number, audio: SharedAudio, source: object): Int16Array {
    const far = this.#far!
    if (now - this.#framedAt > maxBehindMs && this.#speaker) this.stream.interrupt(this.#speaker)
    this.#framedAt = now
    this.#dropEncoder()
    this.#openingLeft = 0
    this.#hang = far.comfortNoise === undefined ? hangoverFrames : 0
    this.#speaker = source
    const { frame, payload, bytes, units } = audio.encoding(this.#format!, this.#codecs, far)
    if (bytes === 0) {
      this.stream.skip(units)
      return frame
    }
    this.stream.own(now, source, units)
    const packet = this.stream.make(far.payloadType, bytes)
    payload.copy(packet, headerBytes, 0, bytes)
    this.#emit(now, packet, 0, bytes)
    return frame
  }

  /**
   * Encodes 20 ms that were sent from a shared encoding, without sending it. The own encoder then continues
   * where the far end's decoder is.
   */
  prime(frame: Int16Array): void {
    if (!this.#isAllowed || this.#digits.isKeyDown) return
    const packetizer = this.#encoder()
    packetizer.push(frame)
    if (packetizer.hasPacket) packetizer.take(discarded, 0)
    packetizer.clear()
  }

  /** Returns the joined audio, followed by silence at its end. */
  #bridged(frame: Int16Array | undefined): Int16Array | undefined {
    if (frame) this.#hang = this.#far!.comfortNoise === undefined ? hangoverFrames : 0
    else if (this.#hang === 0) return undefined
    else this.#hang--
    return frame ?? silentFrame(this.rate)
  }

  #say(now: number, frame: Int16Array | undefined, speaker: object | undefined): void {
    if (speaker) this.#openingLeft = 0
    else if (!frame && this.#openingLeft > 0 && this.#far!.codec === 'opus' && !this.#packetizer) {
      // Most browser ports only forward packets and need no encoder for this.
      this.#openingLeft--
      this.#sendOpusSilence(now)
      return
    }
    const sounds = frame !== undefined || this.#openingLeft > 0
    const packetizer = sounds ? this.#encoder() : this.#packetizer
    if (sounds) {
      this.#speaker = speaker
      packetizer?.push(frame ?? silentFrame(this.rate))
    } else if (packetizer?.isEmpty === false) packetizer.push(undefined)
    else if (this.#speaker) {
      // The next frame may come from the same source, and must not continue the numbering.
      this.stream.interrupt(this.#speaker)
      this.#speaker = undefined
    }
    while (packetizer?.isDue) this.#sendPacket(now, packetizer)
  }

  #encoder(): Packetizer {
    this.#packetizer ??= packetizerFor(this.#codecs, this.#far!, this.rate)
    return this.#packetizer
  }

  #dropEncoder(): void {
    this.#packetizer?.close()
    this.#packetizer = undefined
  }

  #sendPacket(now: number, packetizer: Packetizer): void {
    const packet = Buffer.allocUnsafe(headerBytes + packetizer.maxBytes)
    const bytes = packetizer.take(packet, headerBytes)
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

  /** After a while without a packet, sends comfort noise or a packet of silence. */
  #keepAlive(now: number): void {
    if (!this.#isAllowed || this.#sentAt === undefined || this.#openingLeft > 0) return
    const { comfortNoise } = this.#far!
    const after = comfortNoise === undefined ? keepAliveMs : this.#isNoisy ? noiseEveryMs : noiseAfterMs
    if (now - this.#sentAt < after) return
    if (comfortNoise !== undefined) {
      const packet = Buffer.allocUnsafe(headerBytes + 1)
      this.#sendSilence(now, packet, comfortNoise, writeComfortNoise(noiseDb, packet, headerBytes))
    } else if (this.#far!.codec === 'opus') {
      this.#sendOpusSilence(now)
    } else {
      const packetizer = this.#encoder()
      const packet = Buffer.allocUnsafe(headerBytes + packetizer.maxBytes)
      while (!packetizer.hasPacket) packetizer.push(silentFrame(this.rate))
      this.#sendSilence(now, packet, this.#far!.payloadType, packetizer.take(packet, headerBytes))
      packetizer.clear()
    }
    this.#isNoisy = comfortNoise !== undefined
  }

  #sendOpusSilence(now: number): void {
    const packet = Buffer.allocUnsafe(headerBytes + opusSilence.length)
    this.#sendSilence(now, packet, this.#far!.payloadType, opusSilence.copy(packet, headerBytes))
  }

  #sendSilence(now: number, packet: Buffer, payloadType: number, bytes: number): void {
    this.stream.silence(now, this.#packetizer?.units ?? clockRate(this.#far!.codec) / framesPerSecond)
    this.stream.write(packet, 0, payloadType)
    this.#emit(now, packet, 0, bytes)
  }

  #sendEvent(now: number, event: EventPacket): void {
    const payloadType = this.#far?.telephoneEvent
    if (event.isFirst) this.#hasEventBegun = false
    // Before the string is complete, the far end may have gone on hold or stopped accepting events.
    if (!this.#isAllowed || payloadType === undefined) return
    this.stream.event(now, event.samples / this.#digits.rate, !this.#hasEventBegun)
    this.#hasEventBegun = true
    const packet = this.stream.make(payloadType, eventBytes)
    event.payload.copy(packet, headerBytes)
    this.#emit(now, packet, 0, eventBytes)
  }

  #emit(now: number, packet: Buffer, offset: number, payloadBytes: number): void {
    if (!this.#send(packet, offset, headerBytes + payloadBytes)) return
    this.packets++
    this.octets += payloadBytes
    this.#sentAt = now
    this.#isNoisy = false
  }
}
