import type { Codecs } from '../codecs/types.ts'
import type { FarEnd, PcmRate, Volumes } from '../types.ts'
import { DigitEar } from './digit-ear.ts'
import { type Ear, Ears } from './ears.ts'
import { Gain } from './gain.ts'
import { Hearing } from './hearing.ts'
import type { FrameLine } from './line.ts'
import { PacketForm } from './packet-form.ts'
import { RateAdapter } from './rate.ts'
import type { Accepted, Receiver } from './receiver.ts'
import type { Sender } from './sender.ts'
import { span } from './span.ts'

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
  #hearing: Hearing
  #ears = new Ears()
  #digitEar: DigitEar | undefined
  #hears = false
  /** The far end's formats: what it accepts, and what it is known to send. */
  #far: FarEnd | undefined
  #heard = new PacketForm()
  #partner: Bridge | undefined
  #line: FrameLine | undefined
  /** Whether joined audio reaches the far end as frames. */
  #byFrames = false
  #fromBridge = new RateAdapter()
  #toLine = new RateAdapter()
  #volumes: Volumes = { inDb: 0, outDb: 0 }
  /** Gains of the joined audio for the far end, and of the far end's audio for the channel. */
  #heardGain = new Gain()
  #saidGain = new Gain()

  constructor(options: BridgeOptions) {
    this.#options = options
    this.#receiver = options.receiver
    this.#sender = options.sender
    this.#hearing = new Hearing(options.codecs, options.noiseSeed)
  }

  /** Decoding statistics; see {@link FrameDecoder.quality}. */
  get quality(): { readonly late: number; readonly bufferMs: number } {
    return this.#hearing.quality
  }

  /** Whether frames must be processed. */
  get framed(): boolean {
    return this.#byFrames || this.#hearing.open || this.#ears.size > 0 || this.#sender.framed
  }

  /** Sets or changes the far end. `hears` is whether its audio is accepted. */
  set(far: FarEnd, hears: boolean): void {
    this.#hears = hears
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
  take(now: number, kind: Accepted, packet: Buffer): void {
    if (!this.#hears) return
    const { view, codec } = this.#receiver
    if (kind === 'event') this.#digitEar?.event()
    else if (kind === 'audio' && this.#heard.changes(codec, span(codec, packet, view.start, view.end)))
      this.#route()
    // Decode first: forwarding rewrites the packet.
    if (this.#hearing.open) this.#hearing.receive(now, kind, codec, view, packet)
    const partner = this.#partner
    if (!partner || partner.#byFrames) return
    if (kind === 'event') partner.#sender.stream.leaveOut(this.#receiver, view.ssrc, view.sequence)
    else partner.#sender.forward(now, this.#receiver, packet, view, kind === 'audio' ? codec : undefined)
  }

  /** Connects two bridges; each leaves its former partner. */
  join(other: Bridge): void {
    this.part()
    other.part()
    this.#partner = other
    other.#partner = this
    this.#route()
  }

  /** Exchanges frames with `line` in place of a partner. The channel is closed when the bridge leaves it. */
  connect(line: FrameLine): void {
    this.part()
    this.#line = line
    this.#route()
  }

  /** Ends the join or leaves the channel (only if it is `line`, when given). No effect without either. */
  part(line?: FrameLine): void {
    if (line && line !== this.#line) return
    this.#line?.close()
    this.#line = undefined
    const other = this.#partner
    if (other) {
      this.#partner = undefined
      other.#partner = undefined
      // Interrupts the numbering, even if the same two are joined again.
      this.#sender.stream.interrupt(other.#receiver)
      other.#sender.stream.interrupt(this.#receiver)
      other.#route()
    }
    this.#route()
  }

  /** Adds a sink, until {@link removeSink} or until the bridge is closed. */
  listen(ear: Ear): void {
    this.#ears.add(ear)
    this.#route()
  }

  unlisten(ear: Ear): void {
    this.#ears.remove(ear)
    this.#route()
  }

  /** Reports a digit of the far end to the sinks. */
  digit(digit: string): void {
    this.#ears.digit(digit)
  }

  /** Decodes 20 ms of the far end's audio. */
  frameIn(now: number): void {
    const hearing = this.#hearing
    if (hearing.open) hearing.read(now)
    const line = this.#line
    if (!line) return
    line.say(this.#toLine.convert(this.#saidGain.apply(hearing.said), hearing.rate, line.rate))
  }

  /** Sends 20 ms to the far end, and passes both directions to the sinks. */
  frameOut(now: number): void {
    const sender = this.#sender
    const partner = this.#partner
    const out = sender.frame(now, this.#bridged(), this.#line ?? partner ?? this)
    if (this.#ears.size === 0) return
    const { said, rate } = this.#hearing
    // Packets that are forwarded undecoded are represented by the partner's frames.
    const passed = partner && !this.#byFrames && !sender.interrupted ? partner.#hearing : undefined
    if (out || !passed) this.#ears.hear(said, rate, out, sender.rate)
    else this.#ears.hear(said, rate, passed.said, passed.rate)
  }

  /** Detaches the bridge and closes its sinks. */
  close(): void {
    this.part()
    this.#ears.close()
    this.#hearing.close()
  }

  /** Returns the frame of the partner or the channel, at the sender's rate. */
  #bridged(): Int16Array | undefined {
    const { rate } = this.#sender
    if (this.#line) {
      return this.#heardGain.apply(this.#fromBridge.convert(this.#line.hear(), this.#line.rate, rate))
    }
    if (!this.#partner || !this.#byFrames) return undefined
    const hearing = this.#partner.#hearing
    return this.#heardGain.apply(this.#fromBridge.convert(hearing.said, hearing.rate, rate))
  }

  #listenForDigits(wanted: boolean): void {
    if (this.#digitEar) this.#ears.remove(this.#digitEar)
    this.#digitEar = wanted ? new DigitEar(this.#options.onDigit) : undefined
    if (this.#digitEar) this.#ears.add(this.#digitEar)
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
    const passed = !partner || (volumeDb === 0 && (!this.#far || partner.#heard.suits(this.#far)))
    const byFrames = this.#line !== undefined || !passed
    if (byFrames === this.#byFrames) return
    this.#byFrames = byFrames
    this.#fromBridge = new RateAdapter()
    this.#sender.stream.interrupt()
  }

  /** Decodes the far end at the highest rate that any consumer needs. */
  #decode(): void {
    const partner = this.#partner
    let rate: PcmRate | 0 = this.#ears.inputRate
    if (this.#line && this.#line.rate > rate) rate = this.#line.rate
    if (partner) {
      const { outputRate } = partner.#ears
      if (partner.#byFrames && partner.#sender.rate > rate) rate = partner.#sender.rate
      if (outputRate > rate) rate = outputRate
    }
    this.#hearing.want(rate)
  }
}
