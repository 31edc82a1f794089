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

/** What a bridge stands between, and whom it tells. */
export interface BridgeOptions {
  readonly receiver: Receiver
  readonly sender: Sender
  readonly codecs: Codecs
  /** Another number for each bridge; see {@link Hearing}. */
  readonly noiseSeed: number
  /** A digit was heard in the audio. */
  readonly onDigit: (digit: string, durationMs: number) => void
  /** {@link Bridge.framed} may have become true. */
  readonly wake: () => void
}

/**
 * Between the receiving and the sending half of a port: who hears what comes in, and what goes out. Two bridges that are joined pass
 * packets on wherever codecs, packet durations and volumes permit. Else, and for mixers and whoever listens, audio goes by frames of 20 ms, and only then is it
 * decoded: {@link frameIn} of all bridges, then the mixers, then {@link frameOut} of all bridges.
 */
export class Bridge {
  #receiver: Receiver
  #sender: Sender
  #options: BridgeOptions
  #hearing: Hearing
  #ears = new Ears()
  #digitEar: DigitEar | undefined
  #hears = false
  /** What the far end takes, and what it sends as far as is known. */
  #far: FarEnd | undefined
  #heard = new PacketForm()
  #partner: Bridge | undefined
  #line: FrameLine | undefined
  /** Whether what is bridged to the far end comes by frames. */
  #byFrames = false
  #fromBridge = new RateAdapter()
  #toLine = new RateAdapter()
  #volumes: Volumes = { inDb: 0, outDb: 0 }
  /** Of what is bridged to the far end, and of what is said to the line. */
  #heardGain = new Gain()
  #saidGain = new Gain()

  constructor(options: BridgeOptions) {
    this.#options = options
    this.#receiver = options.receiver
    this.#sender = options.sender
    this.#hearing = new Hearing(options.codecs, options.noiseSeed)
  }

  /** What decoding made of the packets; see {@link Hearing.quality}. */
  get quality(): { readonly late: number; readonly bufferMs: number } {
    return this.#hearing.quality
  }

  /** Whether frames are needed. */
  get framed(): boolean {
    return this.#byFrames || this.#hearing.open || this.#ears.size > 0 || this.#sender.framed
  }

  /** Tells or changes the far end; `hears` when its audio is to come in. */
  set(far: FarEnd, hears: boolean): void {
    this.#hears = hears
    this.#far = far
    this.#heard.expect(far.codec)
    this.#listenForDigits(far.inbandDigits === true && hears)
    this.#route()
  }

  /** How loud the far end is for whom it is joined to, and that for it. */
  setVolumes(volumes: Volumes): void {
    this.#volumes = volumes
    this.#saidGain.set(volumes.inDb)
    this.#route()
  }

  /** Takes a packet that the receiver has accepted just now. */
  take(now: number, kind: Accepted, packet: Buffer): void {
    if (!this.#hears) return
    const { view, codec } = this.#receiver
    if (kind === 'event') this.#digitEar?.event()
    else if (kind === 'audio' && this.#heard.changes(codec, span(codec, packet, view.start, view.end)))
      this.#route()
    // First, as a packet that is passed on is rewritten.
    if (this.#hearing.open) this.#hearing.receive(now, kind, codec, view, packet)
    const partner = this.#partner
    if (!partner || partner.#byFrames) return
    if (kind === 'event') partner.#sender.stream.leaveOut(this.#receiver, view.ssrc, view.sequence)
    else partner.#sender.forward(now, this.#receiver, packet, view, kind === 'audio' ? codec : undefined)
  }

  /** Cross-connects two bridges; each leaves its former partner. */
  join(other: Bridge): void {
    this.part()
    other.part()
    this.#partner = other
    other.#partner = this
    this.#route()
  }

  /** Exchanges frames with `line` in place of a partner. It is closed when this leaves it. */
  connect(line: FrameLine): void {
    this.part()
    this.#line = line
    this.#route()
  }

  /** Ends a join, or leaves the line (if it is `line`, where that is given); harmless when there is none. */
  part(line?: FrameLine): void {
    if (line && line !== this.#line) return
    this.#line?.close()
    this.#line = undefined
    const other = this.#partner
    if (other) {
      this.#partner = undefined
      other.#partner = undefined
      // Their numbering is over, even if the same two are joined again.
      this.#sender.stream.interrupt(other.#receiver)
      other.#sender.stream.interrupt(this.#receiver)
      other.#route()
    }
    this.#route()
  }

  /** Lets `ear` listen until {@link unlisten}, or until this is closed. */
  listen(ear: Ear): void {
    this.#ears.add(ear)
    this.#route()
  }

  unlisten(ear: Ear): void {
    this.#ears.remove(ear)
    this.#route()
  }

  /** The far end has pressed a key. */
  digit(digit: string): void {
    this.#ears.digit(digit)
  }

  /** Makes 20 ms of what the far end says. */
  frameIn(now: number): void {
    const hearing = this.#hearing
    if (hearing.open) hearing.read(now)
    const line = this.#line
    if (!line) return
    line.say(this.#toLine.convert(this.#saidGain.apply(hearing.said), hearing.rate, line.rate))
  }

  /** Sends 20 ms of what the far end is to hear, and gives both to those who listen. */
  frameOut(now: number): void {
    const sender = this.#sender
    const partner = this.#partner
    const out = sender.frame(now, this.#bridged(), this.#line ?? partner ?? this)
    if (this.#ears.size === 0) return
    const { said, rate } = this.#hearing
    // What is passed on by packets is heard as the partner's frames are.
    const passed = partner && !this.#byFrames && !sender.interrupted ? partner.#hearing : undefined
    if (out || !passed) this.#ears.hear(said, rate, out, sender.rate)
    else this.#ears.hear(said, rate, passed.said, passed.rate)
  }

  /** Parts, and tells those who listen that it is over. */
  close(): void {
    this.part()
    this.#ears.close()
    this.#hearing.close()
  }

  /** What the partner or the line says, at the rate of the sender. */
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

  /** Decides anew how audio goes between this bridge and its partner, and what has to be decoded for that. */
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

  /** What the far end says is wanted at the highest rate that anybody asks for. */
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
