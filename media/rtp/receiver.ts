import type { AudioCodec, FarEnd, NearEnd } from '../types.ts'
import { EventsIn } from './events-in.ts'
import { Latch } from './latch.ts'
import { readRtp, rtpView } from './packet.ts'
import { Reception } from './reception.ts'
import type { SrtpReceiver } from './srtp.ts'

/** Comfort noise (RFC 3389): a static payload type that gateways send without having offered it. */
const COMFORT_NOISE = 13

/** Why packets were refused, counted. */
export type Refused = Record<'source' | 'malformed' | 'payload-type' | 'ssrc' | 'srtp', number>

/** What an accepted packet is; `noise` is comfort noise, which proves life and carries no audio. */
export type Accepted = 'audio' | 'event' | 'noise'

/** The receiving half of a port: which packets count, and what they are. */
export class Receiver {
  readonly latch: Latch
  readonly reception = new Reception()
  readonly refused: Refused = { source: 0, malformed: 0, 'payload-type': 0, ssrc: 0, srtp: 0 }
  /** The last accepted packet; overwritten by the next. */
  readonly view = rtpView()
  /** Codec of the last accepted audio. */
  codec: AudioCodec = 'PCMU'
  /** Checks and decrypts; undefined for plain RTP. */
  srtp: SrtpReceiver | undefined
  /** Payload octets of accepted packets. */
  octets = 0
  #ownSsrc: number
  #codecs = new Map<number, AudioCodec>()
  #telephoneEvent: number | undefined
  #events: EventsIn

  /** `ownSsrc` is that of the sending half: hearing it means that our own packets come back. */
  constructor(anyPort: boolean, ownSsrc: number, onDigit: (digit: string, durationMs: number) => void) {
    this.latch = new Latch(anyPort)
    this.#ownSsrc = ownSsrc
    this.#events = new EventsIn(onDigit)
  }

  /** Takes the payload types that we announced, and permits one learning of the source. */
  set(near: NearEnd, far: FarEnd, reachable: boolean): void {
    this.#codecs = new Map(near.codecs.map(({ codec, payloadType }) => [payloadType, codec]))
    this.#telephoneEvent = near.telephoneEvent
    if (reachable) this.latch.aim(far)
  }

  /** Checks and counts one packet. Undefined: refused. */
  accept(now: number, packet: Buffer, address: string, port: number): Accepted | undefined {
    const { latch, view } = this
    // The source is checked first, so that a stranger cannot raise any other counter.
    if (!latch.agrees(address, port)) return this.#refuse('source')
    // Nothing is learnt, nor even read, of a packet that is not authentic.
    const plain = this.srtp ? this.srtp.unprotect(packet) : packet
    if (!plain) return this.#refuse('srtp')
    if (!readRtp(plain, view)) return this.#refuse('malformed')
    if (view.ssrc === this.#ownSsrc) return this.#refuse('ssrc')
    const kind = this.#kind(view.payloadType)
    if (!kind || (kind === 'noise' && !latch.latched)) return this.#refuse('payload-type')
    const known = this.reception.ssrc
    if (known !== undefined && known !== view.ssrc) this.#events.restart()
    if (kind === 'event' && !this.#events.receive(now, view.timestamp, packet, view.start, view.end))
      return this.#refuse('malformed')
    this.reception.update(now, view.ssrc, view.sequence, view.timestamp, kind === 'audio')
    this.octets += view.end - view.start
    return kind
  }

  /** Completes events whose end was lost. */
  tick(now: number): void {
    this.#events.tick(now)
  }

  #kind(payloadType: number): Accepted | undefined {
    const codec = this.#codecs.get(payloadType)
    if (codec) {
      this.codec = codec
      return 'audio'
    }
    if (payloadType === this.#telephoneEvent) return 'event'
    return payloadType === COMFORT_NOISE ? 'noise' : undefined
  }

  #refuse(reason: keyof Refused): undefined {
    this.refused[reason]++
  }
}
