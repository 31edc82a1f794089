/**
 * Fakes for tests of the browser dialect: WebRTC without media, and calls that record arrivals.
 */
import type { AudioCodec, BrowserMedia, BrowserSource, MediaPort, WebRtc } from '../../../../media/types.ts'
import type { Arrival, Arrivals } from '../../../calls/call/arrival.ts'
import type { Addition } from '../../../calls/leg/addition.ts'
import type { Leg, LegOwner } from '../../../calls/leg/leg.ts'
import type { Referral } from '../../../calls/leg/referral.ts'
import { FakePort, FakeVideo } from '../../../calls/testing/fake-legs.ts'

type State = Parameters<Parameters<BrowserMedia['onState']>[0]>[0]

/** Transport of a fake, with a state that the test sets. */
class FakeTransport {
  closed = false
  #listener: (state: State) => void = () => {}

  onState(listener: (state: State) => void): void {
    this.#listener = listener
  }

  /** Reports a state of the transport. */
  report(state: State): void {
    this.#listener(state)
  }

  async close(): Promise<void> {
    this.closed = true
  }
}

/** Media of a browser, with a state that the test sets. */
export class FakeMedia extends FakeTransport implements BrowserMedia {
  readonly port: FakePort
  readonly codec: AudioCodec
  readonly sdp: string
  readonly accepted: string[] = []
  readonly video = new FakeVideo()
  /** Screen that replaces the camera. */
  screen: BrowserSource | undefined
  /** Whether the browser receives no audio. */
  deaf = false
  /** Delays the acceptance of answers until it resolves. */
  accepting: Promise<void> = Promise.resolve()
  /** Delays later offers until it resolves. */
  gate: Promise<void> = Promise.resolve()

  constructor(group: string, codec: AudioCodec, sdp: string) {
    super()
    this.port = new FakePort(group)
    this.codec = codec
    this.sdp = sdp
  }

  async accept(answer: string): Promise<void> {
    if (answer === 'bad') throw Object.assign(new Error('no m-line'), { code: 'bad_sdp' })
    if (answer === 'no codec') throw Object.assign(new Error('no audio'), { code: 'no_common_codec' })
    if (this.accepted.length > 0) throw new Error('an answer was accepted already')
    await this.accepting
    if (answer === 'no transport') throw new Error('the transport is gone')
    this.accepted.push(answer)
  }

  async renegotiate(offer: string): Promise<string> {
    await this.gate
    if (offer.endsWith('bad')) throw Object.assign(new Error('no m-line'), { code: 'bad_sdp' })
    return `answer to ${offer}`
  }

  present(screen: BrowserSource | undefined): void {
    this.screen = screen
  }

  async setDeaf(deaf: boolean): Promise<void> {
    this.deaf = deaf
  }
}

/** Screen or device with a state that the test sets. It sends what the words of its offer name. */
export class FakeSource extends FakeTransport implements BrowserSource {
  readonly sdp: string
  readonly hasVideo: boolean
  readonly port?: FakePort

  constructor(group: string, offer: string, hasSound: boolean) {
    super()
    this.sdp = `answer to ${offer}`
    this.hasVideo = !offer.includes('microphone')
    if (hasSound && /sound|microphone/.test(offer)) this.port = new FakePort(group)
  }

  async renegotiate(offer: string): Promise<string> {
    if (offer === 'bad') throw Object.assign(new Error('no m-line'), { code: 'bad_sdp' })
    return `answer to ${offer}`
  }
}

/** Makes media that the test can inspect. */
export class FakeWebRtc implements Pick<WebRtc, 'answer' | 'offer' | 'source'> {
  readonly made: FakeMedia[] = []
  /** Screens and devices. */
  readonly sources: FakeSource[] = []
  /** Whether the gateway's last offer has video. */
  withVideo = false
  /** Whether video of the last offer of a page is accepted. */
  takesVideo = false
  /** Codecs that were accepted of the last offer, in order. */
  wanted: readonly AudioCodec[] = []
  /** Delays all media until it resolves. */
  gate: Promise<void> = Promise.resolve()

  async answer(
    group: string,
    offer: string,
    codecs: readonly AudioCodec[],
    { video = true }: { video?: boolean } = {},
  ): Promise<BrowserMedia> {
    this.takesVideo = video
    await this.gate
    if (offer === 'bad') throw Object.assign(new Error('no m-line'), { code: 'bad_sdp' })
    if (offer === 'video only') throw Object.assign(new Error('no audio'), { code: 'no_common_codec' })
    this.wanted = codecs
    return this.#make(group, codecs[0] ?? 'PCMU', `answer to ${offer}`)
  }

  async offer(group: string, codec: AudioCodec, options: { video?: boolean } = {}): Promise<BrowserMedia> {
    await this.gate
    this.withVideo = options.video === true
    return this.#make(group, codec, 'offer of the gateway')
  }

  async source(group: string, offer: string, codecs: readonly AudioCodec[] = []): Promise<FakeSource> {
    await this.gate
    if (offer === 'bad') throw Object.assign(new Error('no video'), { code: 'bad_sdp' })
    const source = new FakeSource(group, offer, codecs.length > 0)
    this.sources.push(source)
    return source
  }

  /** Media that was made last. */
  get last(): FakeMedia {
    const media = this.made.at(-1)
    if (!media) throw new Error('no media was made')
    return media
  }

  #make(group: string, codec: AudioCodec, sdp: string): FakeMedia {
    const media = new FakeMedia(group, codec, sdp)
    this.made.push(media)
    return media
  }
}

/** Edge that opens fake ports. */
export class FakeEdge {
  readonly opened: FakePort[] = []
  /** Fails with this error, if set. */
  fault: Error | undefined
  /** Delays all ports until it resolves. */
  gate: Promise<void> = Promise.resolve()

  async open({ group }: { readonly group: string }): Promise<MediaPort> {
    await this.gate
    if (this.fault) throw this.fault
    const port = new FakePort(group)
    this.opened.push(port)
    return port
  }
}

/** Leg owner that records its callbacks. */
export class FakeOwner implements LegOwner {
  readonly reports: string[] = []
  /** Transfers that the owner has accepted. */
  readonly referrals: Referral[] = []
  /** Additions that the owner has accepted. */
  readonly additions: Addition[] = []
  /** Legs that have replaced the leg. */
  readonly replacements: Leg[] = []
  /** Whether the owner accepts transfers and replacements. */
  isTransferable = true

  legReferred(_leg: Leg, referral: Referral): boolean {
    if (this.isTransferable) this.referrals.push(referral)
    return this.isTransferable
  }

  legAdds(_leg: Leg, addition: Addition): boolean {
    if (this.isTransferable) this.additions.push(addition)
    return this.isTransferable
  }

  legReplaced(leg: Leg, by: Leg): boolean {
    if (!this.isTransferable) return false
    this.replacements.push(by)
    leg.end({ code: 'answered_elsewhere' })
    return true
  }

  legEarly(_leg: Leg, media: boolean): void {
    this.reports.push(media ? 'early media' : 'early')
  }

  legAnswered(): void {
    this.reports.push('answered')
  }

  legHeld(): void {}

  legDigit(_leg: Leg, digit: string): void {
    this.reports.push(`digit ${digit}`)
  }

  legEnded(leg: Leg): void {
    this.reports.push(
      `ended ${leg.state.kind === 'ended' ? `${leg.state.cause.code} by ${leg.state.by}` : ''}`,
    )
  }
}

/** Calls that record arrivals, and react as the test says. */
export class FakeArrivals implements Arrivals {
  readonly arrived: { readonly arrival: Arrival; readonly owner: FakeOwner }[] = []
  /** Runs within `arrive`. */
  react: (leg: Leg) => void = () => {}

  arrive(arrival: Arrival): void {
    const owner = new FakeOwner()
    arrival.leg.own(owner)
    this.arrived.push({ arrival, owner })
    this.react(arrival.leg)
  }
}
