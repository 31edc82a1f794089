import { codecInfo } from '../codecs/codec-info.ts'
import type { Codecs } from '../codecs/types.ts'
import type { FarEnd, PcmRate, Volumes } from '../types.ts'
import { type AudioSink, AudioSinks } from './audio-sinks.ts'
import { DigitSink } from './digit-sink.ts'
import { silentFrame } from './encoding.ts'
import type { FrameChannel } from './frame-channel.ts'
import { FrameDecoder, promptDelay } from './frame-decoder.ts'
import { Gain } from './gain.ts'
import { packetDuration } from './packet-duration.ts'
import { PacketFormat } from './packet-format.ts'
import { RateAdapter } from './rate-adapter.ts'
import type { Accepted, Receiver } from './receiver.ts'
import type { Sender } from './sender.ts'
import type { SharedAudio } from './shared-audio.ts'
import { Sharing } from './sharing.ts'

/** Collaborators of a {@link Bridge}. */
export interface BridgeOptions {
  readonly receiver: Receiver
  readonly sender: Sender
  readonly codecs: Codecs
  /** Seed of the comfort noise, different for each bridge; see {@link FrameDecoder}. */
  readonly noiseSeed: number
  /** Called for a digit detected in the audio. */
  readonly onDigit: (digit: string, durationMs: number) => void
  /** Called when {@link Bridge.isFramed} may have become true. */
  readonly wake: () => void
}

/**
 * Connects the receiving and the sending half of a port with a partner, a channel and the sinks. Two joined
 * bridges pass packets on if codecs, packet durations and volumes permit.
 *
 * Otherwise, and for mixers and sinks, audio is decoded to frames of 20 ms. The order per frame: {@link
 * frameIn} of all bridges, then the mixers, then {@link frameOut} of all bridges.
 */
export class Bridge {
  #receiver: Receiver
  #sender: Sender
  #options: BridgeOptions
  #decoder: FrameDecoder
  /** Decodes once more for prompt sinks, with the least delay. */
  #promptDecoder: FrameDecoder
  /** Decoder in use, or used last: the even one if both are. */
  #measured: FrameDecoder
  #sinks = new AudioSinks()
  #digitSink: DigitSink | undefined
  #isHearing = false
  /** Formats that the far end accepts, and the format that it is known to send. */
  #far: FarEnd | undefined
  #heard = new PacketFormat()
  #partner: Bridge | undefined
  #channel: FrameChannel | undefined
  /** Whether joined audio reaches the far end as frames. */
  #isFramed = false
  #fromBridge = new RateAdapter()
  #sharing = new Sharing()
  #volumes: Volumes = { inDb: 0, outDb: 0 }
  /** Gain of the joined audio for the far end. */
  #heardGain = new Gain()
  /** Gain of the far end's audio for the channel. */
  #saidGain = new Gain()

  constructor(options: BridgeOptions) {
    this.#options = options
    this.#receiver = options.receiver
    this.#sender = options.sender
    this.#decoder = new FrameDecoder(options.codecs, options.noiseSeed)
    this.#promptDecoder = new FrameDecoder(options.codecs, options.noiseSeed, promptDelay)
    this.#measured = this.#decoder
  }

  /** Decoding statistics; see {@link FrameDecoder.quality}. */
  get quality(): { readonly late: number; readonly bufferMs: number } {
    return this.#measured.quality
  }

  /** Whether frames must be processed. */
  get isFramed(): boolean {
    return this.#isFramed || this.#decoder.isOpen || this.#sinks.size > 0 || this.#sender.isFramed
  }

  /** Sets or changes the far end. `hears` is whether its audio is accepted. */
  set(far: FarEnd, hears: boolean): void {
    this.#isHearing = hears
    this.#far = far
    this.#heard.expect(far.codec)
    this.#listenForDigits(far.inbandDigits === true && hears)
    this.#route()
  }

  /** Sets the volumes of the far end's audio for its partner, and of the partner's audio for the far end. */
  setVolumes(volumes: Volumes): void {
    this.#volumes = volumes
    this.#saidGain.set(volumes.inDb)
    this.#route()
  }

  /** Processes a packet that the receiver has just accepted. */
  receive(now: number, kind: Accepted, packet: Buffer): void {
    if (!this.#isHearing) return
    const { view, codec } = this.#receiver
    if (kind === 'event') this.#digitSink?.event()
    else if (
      kind === 'audio' &&
      this.#heard.changes(codec, packetDuration(codec, packet, view.start, view.end))
    )
      this.#route()
    // Decode first: forwarding rewrites the packet.
    if (this.#decoder.isOpen) this.#decoder.receive(now, kind, codec, view, packet)
    if (this.#promptDecoder.isOpen) this.#promptDecoder.receive(now, kind, codec, view, packet)
    const partner = this.#partner
    if (!partner || partner.#isFramed) return
    if (kind === 'event') partner.#sender.stream.leaveOut(this.#receiver, view.ssrc, view.sequence)
    else partner.#sender.forward(now, this.#receiver, packet, view, kind === 'audio' ? codec : undefined)
  }

  /** Connects two bridges; each leaves its former partner. */
  join(other: Bridge): void {
    this.detach()
    other.detach()
    this.#partner = other
    other.#partner = this
    this.#route()
  }

  /** Exchanges frames with `channel` in place of a partner. Leaving the channel closes it. */
  connect(channel: FrameChannel): void {
    this.detach()
    this.#channel = channel
    this.#route()
  }

  /** Ends the join or leaves the channel (only if it is `channel`, when given). No effect without either. */
  detach(channel?: FrameChannel): void {
    if (channel && channel !== this.#channel) return
    this.#channel?.close()
    this.#channel = undefined
    const other = this.#partner
    if (other) {
      this.#partner = undefined
      other.#partner = undefined
      // Interrupts the numbering, even if the same two bridges are joined again.
      this.#sender.stream.interrupt(other.#receiver)
      other.#sender.stream.interrupt(this.#receiver)
      other.#route()
    }
    this.#route()
  }

  /** Adds a sink, until {@link removeSink} or until the bridge is closed. */
  addSink(sink: AudioSink): void {
    this.#sinks.add(sink)
    this.#route()
  }

  removeSink(sink: AudioSink): void {
    this.#sinks.remove(sink)
    this.#route()
  }

  /** Reports a digit of the far end to the sinks. */
  digit(digit: string): void {
    this.#sinks.digit(digit)
  }

  /** Decodes 20 ms of the far end's audio. */
  frameIn(now: number): void {
    const decoder = this.#decoder
    if (decoder.isOpen) decoder.read(now)
    if (this.#promptDecoder.isOpen) this.#promptDecoder.read(now)
    const channel = this.#channel
    if (!channel) return
    channel.write(this.#saidGain.apply(decoder.frame), decoder.rate)
  }

  /** Sends 20 ms to the far end, and passes both directions to the sinks. */
  frameOut(now: number): void {
    const sender = this.#sender
    const partner = this.#partner
    const { frame: input, rate } = this.#decoder
    this.#sinks.hear(this.#decoder, this.#promptDecoder)
    const out = this.#frameFor(now, this.#channel ?? partner ?? this)
    if (this.#sinks.size === 0) return
    // If packets are forwarded without decoding, the sinks receive the partner's decoded frames instead.
    const passed = partner && !this.#isFramed && !sender.isInterrupted ? partner.#decoder : undefined
    const { ageMs } = this.#decoder
    if (out || !passed) this.#sinks.write(input, rate, out, sender.rate, ageMs + sender.collectingMs)
    else this.#sinks.write(input, rate, passed.frame, passed.rate, ageMs - passed.ageMs)
  }

  /** Detaches the bridge and closes its sinks. */
  close(): void {
    this.detach()
    this.#sinks.close()
    this.#decoder.close()
    this.#promptDecoder.close()
  }

  /** Sends the frame of `source` by the shared or by the own encoder; returns the audio for the far end. */
  #frameFor(now: number, source: object): Int16Array | undefined {
    const sender = this.#sender
    const sharing = this.#sharing
    const shared = this.#shared
    if (sharing.permits(shared, sender.encoder)) {
      sharing.audio = shared
      return sender.frameShared(now, shared!, source)
    }
    if (sharing.audio) this.#leaveShared(sharing.audio)
    sharing.audio = undefined
    return sender.frame(now, this.#bridged(), source)
  }

  /** The channel's shared encodings, if this far end can be served by them now. */
  get #shared(): SharedAudio | undefined {
    const shared = this.#channel?.shared
    const sender = this.#sender
    if (!shared || !this.#heardGain.isNeutral || !sender.canShare) return undefined
    return shared.frame || !sender.hasComfortNoise ? shared : undefined
  }

  /** Brings the own filter and encoder to the state of the shared ones, unless only silence follows. */
  #leaveShared(audio: SharedAudio): void {
    const sender = this.#sender
    this.#fromBridge = new RateAdapter()
    if (!this.#channel?.read() && !sender.promptMixer.isWaiting && sender.hasComfortNoise) return
    audio.recall((frame) => sender.prime(this.#fromBridge.convert(frame, audio.rate, sender.rate)))
  }

  /** Returns the frame of the partner or the channel, at the sender's rate. */
  #bridged(): Int16Array | undefined {
    const { rate, hasComfortNoise } = this.#sender
    const channel = this.#channel
    if (channel) {
      const frame = this.#heardGain.apply(this.#fromBridge.convert(channel.read(), channel.rate, rate))
      return frame ?? (channel.isContinuous && !hasComfortNoise ? silentFrame(rate) : undefined)
    }
    if (!this.#partner) return this.#sinks.isContinuous && !hasComfortNoise ? silentFrame(rate) : undefined
    if (!this.#isFramed) return undefined
    const decoder = this.#partner.#decoder
    return this.#heardGain.apply(this.#fromBridge.convert(decoder.frame, decoder.rate, rate))
  }

  #listenForDigits(wanted: boolean): void {
    if (this.#digitSink) this.#sinks.remove(this.#digitSink)
    this.#digitSink = wanted ? new DigitSink(this.#options.onDigit) : undefined
    if (this.#digitSink) this.#sinks.add(this.#digitSink)
  }

  /** Chooses the path between this bridge and its partner, and the decoding that it needs. */
  #route(): void {
    const partner = this.#partner
    this.#choose()
    if (partner) partner.#choose()
    this.#decode()
    this.#options.wake()
    if (!partner) return
    partner.#decode()
    partner.#options.wake()
  }

  #choose(): void {
    const partner = this.#partner
    const volumeDb = this.#volumes.outDb + (partner ? partner.#volumes.inDb : 0)
    this.#heardGain.set(volumeDb)
    this.#sender.promptMixer.isJoined = partner !== undefined || this.#channel !== undefined
    this.#sender.setAudioRate(this.#channel?.rate)
    const passed = !partner || (volumeDb === 0 && (!this.#far || partner.#heard.suits(this.#far)))
    const byFrames = this.#channel !== undefined || !passed
    if (byFrames === this.#isFramed) return
    this.#isFramed = byFrames
    this.#fromBridge = new RateAdapter()
    this.#sender.stream.interrupt()
  }

  /** Decodes the far end at the highest rate that any consumer needs. */
  #decode(): void {
    const partner = this.#partner
    let rate: PcmRate | 0 = this.#sinks.inputRate
    if (this.#channel) {
      // A channel converts to its own rate, and only if the audio is used.
      const useful = Math.min(this.#channel.rate, codecInfo[this.#heard.codec ?? 'PCMU'].sampleRate)
      if (useful > rate) rate = useful as PcmRate
    }
    if (partner) {
      const { outputRate } = partner.#sinks
      if (partner.#isFramed && partner.#sender.rate > rate) rate = partner.#sender.rate
      if (outputRate > rate) rate = outputRate
    }
    this.#decoder.setRate(rate)
    this.#promptDecoder.setRate(this.#sinks.promptRate)
    if (this.#decoder.isOpen) this.#measured = this.#decoder
    else if (this.#promptDecoder.isOpen) this.#measured = this.#promptDecoder
  }
}
