import { codecInfo } from '../codecs/codec-info.ts'
import type { AudioCodec, FarEnd, NearEnd } from '../types.ts'
import { Latch } from './latch.ts'
import { readRtp, rtpView } from './packet.ts'
import { packetDuration } from './packet-duration.ts'
import { RateLimit } from './rate-limit.ts'
import { Reception } from './reception.ts'
import type { SrtpReceiver } from './srtp.ts'
import { eventBytes } from './telephone-event.ts'
import { type DigitListener, TelephoneEventReceiver } from './telephone-event-receiver.ts'

/** Comfort noise (RFC 3389): a static payload type that gateways also send without an offer. */
const comfortNoiseType = 13

/** Number of rejected packets, by reason. */
export type RejectedCounts = Record<
  'source' | 'malformed' | 'payload-type' | 'ssrc' | 'srtp' | 'rate',
  number
>

/** Content of an accepted packet; `noise` is comfort noise, which counts as activity and carries no audio. */
export type Accepted = 'audio' | 'event' | 'noise'

/** Called for a packet of a new stream; `learnt`: its address is new too. */
export type SourceListener = (address: string, port: number, ssrc: number, learnt: boolean) => void

/** Format of an announced payload type. */
type Format =
  | { readonly kind: 'audio'; readonly codec: AudioCodec; readonly clockRate: number }
  | { readonly kind: 'event'; readonly clockRate: number }
  | { readonly kind: 'noise' }

const noiseFormat: Format = { kind: 'noise' }

/** Receiving half of a port: checks, classifies and counts packets. */
export class Receiver {
  readonly latch: Latch
  readonly reception = new Reception()
  readonly refused: RejectedCounts = { source: 0, malformed: 0, 'payload-type': 0, ssrc: 0, srtp: 0, rate: 0 }
  /** Last accepted packet; overwritten by the next. */
  readonly view = rtpView()
  /** Codec of the last accepted audio. */
  codec: AudioCodec = 'PCMU'
  /** Authenticates and decrypts; undefined for plain RTP. */
  srtp: SrtpReceiver | undefined
  /** Payload octets of accepted packets. */
  octets = 0
  #pace = new RateLimit()
  #formats = new Map<number, Format>()
  #events: TelephoneEventReceiver
  #onSource: SourceListener

  /**
   * `anyPort`: see {@link Latch}. Packets with the SSRC of the sending half are accepted as well. A far end
   * that echoes everything must be heard (echo tests, RFC 6849). A far end that has the same SSRC by chance
   * is distinguished by direction; RFC 3550 section 8.2 requires it to change the SSRC.
   */
  constructor(anyPort: boolean, onDigit: DigitListener, onSource: SourceListener) {
    this.latch = new Latch(anyPort)
    this.#events = new TelephoneEventReceiver(onDigit)
    this.#onSource = onSource
  }

  /** Sets the announced payload types. If the far end is `reachable`, permits one learning of the source. */
  set(near: NearEnd, far: FarEnd, reachable: boolean): void {
    this.#formats = formatsOf(near)
    if (reachable) this.latch.setTarget(far)
  }

  /** Checks and counts one packet. Returns undefined if rejected. */
  accept(now: number, packet: Buffer, address: string, port: number): Accepted | undefined {
    const { latch, view } = this
    // The source is checked first, so that untrusted senders cannot raise any other counter.
    if (!latch.accepts(now, address, port)) return this.#refuse('source')
    // A packet that is not authentic is not parsed, and nothing is learnt from it.
    const plain = this.srtp ? this.srtp.unprotect(packet) : packet
    if (!plain) return this.#refuse('srtp')
    if (!readRtp(plain, view)) return this.#refuse('malformed')
    const format = this.#formatOf(view.payloadType, address, port)
    if (!format) return this.#refuse('payload-type')
    if (format.kind === 'event' && view.end - view.start < eventBytes) return this.#refuse('malformed')
    const admission = latch.admit(now, address, port, view.ssrc, this.srtp !== undefined)
    if (admission === 'refused') return this.#refuse('ssrc')
    if (!this.#pace.permits(now, this.#durationOf(format, plain))) return this.#refuse('rate')
    this.#follow(address, port, admission === 'learnt')
    this.#take(now, plain, format)
    return format.kind
  }

  /** Completes events whose end was lost. */
  tick(now: number): void {
    this.#events.tick(now)
  }

  /** Returns the duration of the packet's audio in ms; 0 for events and noise. */
  #durationOf(format: Format, packet: Buffer): number {
    if (format.kind !== 'audio') return 0
    const { start, end } = this.view
    return (packetDuration(format.codec, packet, start, end) * 1000) / format.clockRate
  }

  #follow(address: string, port: number, learnt: boolean): void {
    const { ssrc } = this.view
    if (learnt || this.reception.ssrc !== ssrc) this.#onSource(address, port, ssrc, learnt)
  }

  #take(now: number, packet: Buffer, format: Format): void {
    const { view, reception } = this
    if (format.kind === 'audio') {
      this.codec = format.codec
      reception.clockRate = format.clockRate
    } else if (format.kind === 'event') {
      this.#events.receive(now, view.ssrc, view.timestamp, packet, view.start, view.end, format.clockRate)
    }
    reception.update(now, view.ssrc, view.sequence, view.timestamp, format.kind === 'audio')
    this.octets += view.end - view.start
  }

  #formatOf(payloadType: number, address: string, port: number): Format | undefined {
    const format = this.#formats.get(payloadType)
    if (format) return format
    const { latch } = this
    // Comfort noise without negotiation does not prove the source.
    const known = latch.isLatched && port === latch.port && address === latch.address
    return known && payloadType === comfortNoiseType ? noiseFormat : undefined
  }

  #refuse(reason: keyof RejectedCounts): undefined {
    this.refused[reason]++
  }
}

const formatsOf = (near: NearEnd): Map<number, Format> => {
  const formats = new Map<number, Format>()
  if (near.comfortNoise !== undefined) formats.set(near.comfortNoise, noiseFormat)
  for (const { payloadType, clockRate } of near.telephoneEvents ?? [])
    formats.set(payloadType, { kind: 'event', clockRate })
  if (near.telephoneEvent !== undefined) formats.set(near.telephoneEvent, { kind: 'event', clockRate: 8000 })
  for (const { codec, payloadType } of near.codecs)
    formats.set(payloadType, { kind: 'audio', codec, clockRate: codecInfo[codec].clockRate })
  return formats
}
