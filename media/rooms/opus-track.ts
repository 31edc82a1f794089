import { opusSilence } from '../rtp/encoding.ts'
import { readRtp, rtpView, sequenceAhead } from '../rtp/packet.ts'
import { packetDuration } from '../rtp/packet-duration.ts'
import { type Arrival, Placement } from './placement.ts'
import { RtpTime, StreamTimeline } from './stream-timeline.ts'

/** Maximum wait for a missing packet, in ms. */
const maxReorderMs = 100
/** Packets ahead of the next one that are kept; one beyond belongs to another position of the stream. */
const maxAhead = 100
/** Time without packets after which silence takes their place, in ms. */
const quietMs = 600
/** Age of the silence that is added while no packet comes, in ms: the delay of packets is less. */
const silenceAgeMs = 500
/** Duration of a packet of silence, in ms. */
const silenceMs = 20
/** Overlap of a packet with what was added before it that is accepted, in ms. */
const maxOverlapMs = 10

const unitsPerMs = 48

/** Packet that waits for its turn. Its payload is copied, because received packets are lent. */
type Waiting = Omit<Arrival, 'at'>

/** Called with a packet of Opus and the time that it belongs to, in order. The times never go back. */
export type OpusListener = (at: number, packet: Uint8Array) => void

/**
 * Orders the RTP packets of Opus that one source sends, and places them in the time of the gateway's clock.
 * {@link Placement} does so by the reports of their sender, or by their arrival.
 *
 * Silence fills what is missing: pauses of the source, lost packets, and the time between two streams. A
 * stream with another SSRC begins anew.
 */
export class OpusTrack {
  readonly #onPacket: OpusListener
  readonly #view = rtpView()
  readonly #waiting = new Map<number, Waiting>()
  #ssrc: number | undefined
  #next = 0
  #timeline = new StreamTimeline()
  #time = new RtpTime(unitsPerMs * 1000)
  readonly #placement = new Placement<Arrival>((at, { data }) => this.#placed(at, data))
  /** Time up to which the track has packets. */
  #end: number
  /** Time up to which silence took the place of packets that did not come. */
  #silentUntil: number
  #receivedAt: number

  /** `startAt`: time at which the track begins, with silence if nothing else. */
  constructor(startAt: number, onPacket: OpusListener) {
    this.#onPacket = onPacket
    this.#end = startAt
    this.#silentUntil = startAt
    this.#receivedAt = startAt
  }

  /**
   * Processes a packet, which may be overwritten afterwards. Malformed ones are ignored. `clock` of its
   * stream; undefined if its sender makes no reports.
   */
  receive(now: number, packet: Buffer, clock?: Arrival['clock']): void {
    const view = this.#view
    if (!readRtp(packet, view)) return
    const { ssrc, sequence, timestamp } = view
    if (ssrc !== this.#ssrc) this.#begin(ssrc, sequence)
    const ahead = sequenceAhead(sequence, this.#next)
    if (ahead > maxAhead || ahead < -maxAhead) this.#begin(ssrc, sequence)
    else if (ahead < 0) return
    this.#receivedAt = now
    const data = Buffer.from(packet.subarray(view.start, view.end))
    this.#waiting.set(sequence, { arrivedAt: now, timestamp, clock, data })
    this.#drain()
    this.#giveUp(now)
  }

  /** Gives up missing packets, and adds silence if none come. Must be called about every 100 ms. */
  tick(now: number): void {
    this.#giveUp(now)
    this.#placement.tick(now)
    if (this.#placement.isWaiting || now - this.#receivedAt < quietMs) return
    this.#fill(now - silenceAgeMs)
    this.#silentUntil = this.#end
  }

  /** Adds all that waits, for a missing packet or a report. */
  flush(): void {
    for (const next of this.#order()) this.#release(next)
    this.#placement.flush()
  }

  /** Ends the track at `now`, with silence if no packets come. */
  finish(now: number): void {
    this.flush()
    if (now - this.#receivedAt >= quietMs) this.#fill(now)
  }

  #begin(ssrc: number, sequence: number): void {
    this.flush()
    this.#ssrc = ssrc
    this.#next = sequence
    this.#timeline = new StreamTimeline()
    this.#time = new RtpTime(unitsPerMs * 1000)
  }

  /** Numbers of the packets that wait, in order. */
  #order(): readonly number[] {
    return [...this.#waiting.keys()].sort((a, b) => sequenceAhead(a, b))
  }

  /** Continues after the missing packets if one of the following has waited too long. */
  #giveUp(now: number): void {
    while ([...this.#waiting.values()].some(({ arrivedAt }) => now - arrivedAt >= maxReorderMs)) {
      this.#next = this.#order()[0]!
      this.#drain()
    }
  }

  #drain(): void {
    while (this.#waiting.has(this.#next)) {
      this.#release(this.#next)
      this.#next = (this.#next + 1) & 0xffff
    }
  }

  #release(sequence: number): void {
    const packet = this.#waiting.get(sequence)!
    this.#waiting.delete(sequence)
    const at = this.#timeline.at(packet.arrivedAt, this.#time.ms(packet.timestamp))
    this.#placement.add({ ...packet, at })
  }

  #placed(at: number, payload: Uint8Array): void {
    if (payload.length === 0 || at < this.#silentUntil - maxOverlapMs) return
    this.#fill(at)
    this.#add(at, payload)
  }

  /** Adds packets of silence that end at this time at the latest. */
  #fill(until: number): void {
    while (this.#end + silenceMs <= until) this.#add(this.#end, opusSilence)
  }

  #add(at: number, packet: Uint8Array): void {
    this.#onPacket(at, packet)
    this.#end = Math.max(this.#end, at + packetDuration('opus', packet, 0, packet.length) / unitsPerMs)
  }
}
