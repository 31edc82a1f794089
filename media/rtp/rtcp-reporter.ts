import type { Reception } from './reception.ts'
import { buildRtcp, compactNtp, type ReportBlock, type RtcpPacket } from './rtcp.ts'

/** Mean interval of reports, in ms (RFC 3550 section 6.2: the minimum of 5 s, sufficient for two parties). */
const intervalMs = 5000
/** Compensation of the randomised timer (section 6.3.1): e - 1.5. */
const compensation = Math.E - 1.5

/** Statistics of the sent stream, for reports. */
export interface SentStream {
  readonly packets: number
  readonly octets: number
  /** Returns the RTP timestamp that corresponds to `now`. */
  timestampAt(now: number): number
  /** Returns the clock rate of the timestamps in Hz; default 8000. */
  clockRate?(): number
}

/** Far side's last report about the sent stream. */
export interface FarReport {
  /** Number of lost packets, over everything sent. */
  readonly lost: number
  readonly jitterMs: number
}

/** RTCP of one port. Schedules and builds reports, and evaluates the reports of the far side. */
export class RtcpReporter {
  #ssrc: number
  #cname: string
  #reception: Reception
  #sent: SentStream
  #random: () => number
  #dueAt: number | undefined
  #reportedPackets = 0
  #hasReported = false
  #heard: { readonly ssrc: number; readonly lastReport: number; readonly at: number } | undefined
  #roundTripMs: number | undefined
  #far: FarReport | undefined
  /** SSRC that sent a BYE. */
  #gone: number | undefined

  constructor(options: {
    readonly ssrc: number
    readonly cname: string
    readonly reception: Reception
    readonly sent: SentStream
    /** Returns 0 to 1, as Math.random. */
    readonly random: () => number
  }) {
    this.#ssrc = options.ssrc
    this.#cname = options.cname
    this.#reception = options.reception
    this.#sent = options.sent
    this.#random = options.random
  }

  /** Round trip from the far side's last report; undefined before a report that refers to a local one. */
  get roundTripMs(): number | undefined {
    return this.#roundTripMs
  }

  /** Far side's last report; undefined before the first. */
  get far(): FarReport | undefined {
    return this.#far
  }

  /**
   * Whether the current source sent a BYE. This ends no call: only SIP does, and many far ends send BYE on
   * hold.
   */
  get farLeft(): boolean {
    return this.#gone !== undefined && (this.#reception.ssrc ?? this.#gone) === this.#gone
  }

  /** Starts reporting; the first report follows after half the interval (section 6.2). */
  start(now: number): void {
    this.#dueAt ??= now + this.#interval() / 2
  }

  /** Returns a report when one is due. */
  tick(now: number): Buffer | undefined {
    if (this.#dueAt === undefined || now < this.#dueAt) return undefined
    this.#dueAt = now + this.#interval()
    this.#hasReported = true
    return buildRtcp(this.#compound(now))
  }

  /** Returns the final packet; undefined if nothing was ever sent to the far side (section 6.3.7). */
  bye(now: number): Buffer | undefined {
    if (!this.#hasReported && this.#sent.packets === 0) return undefined
    return buildRtcp([...this.#compound(now), { kind: 'bye', ssrcs: [this.#ssrc] }])
  }

  /**
   * Processes a compound packet of the far side. A compound with the local CNAME is an echo and is ignored.
   */
  receive(now: number, packets: readonly RtcpPacket[]): void {
    if (packets.some((packet) => packet.kind === 'description' && packet.cname === this.#cname)) return
    for (const packet of packets) {
      if (packet.kind === 'bye') this.#leave(packet.ssrcs)
      if (packet.kind !== 'sender' && packet.kind !== 'receiver') continue
      if (packet.kind === 'sender') {
        this.#heard = { ssrc: packet.ssrc, lastReport: compactNtp(packet.info.at), at: now }
      }
      for (const block of packet.blocks) this.#hear(now, block)
    }
  }

  #leave(ssrcs: readonly number[]): void {
    const heard = this.#reception.ssrc
    this.#gone = heard !== undefined && ssrcs.includes(heard) ? heard : (ssrcs[0] ?? heard)
  }

  /** Section 6.4.1: arrival minus last report minus delay, in 65536ths of a second. */
  #hear(now: number, block: ReportBlock): void {
    if (block.ssrc !== this.#ssrc) return
    const clockRate = this.#sent.clockRate?.() ?? 8000
    this.#far = { lost: Math.max(0, block.lost), jitterMs: (block.jitter * 1000) / clockRate }
    if (block.lastReport === 0) return
    const trip = (compactNtp(now) - block.lastReport - block.delay) | 0
    // A far side with a coarse delay makes the result slightly negative.
    this.#roundTripMs = Math.max(0, (trip * 1000) / 65536)
  }

  #interval(): number {
    return (intervalMs * (0.5 + this.#random())) / compensation
  }

  #compound(now: number): Exclude<RtcpPacket, { kind: 'other' }>[] {
    const blocks = this.#blocks(now)
    const { packets, octets } = this.#sent
    const active = packets !== this.#reportedPackets
    this.#reportedPackets = packets
    const info = { at: now, timestamp: this.#sent.timestampAt(now), packets, octets }
    return [
      active
        ? { kind: 'sender', ssrc: this.#ssrc, info, blocks }
        : { kind: 'receiver', ssrc: this.#ssrc, blocks },
      { kind: 'description', ssrc: this.#ssrc, cname: this.#cname },
    ]
  }

  #blocks(now: number): ReportBlock[] {
    const report = this.#reception.report()
    if (!report) return []
    const heard = this.#heard?.ssrc === report.ssrc ? this.#heard : undefined
    const delay = heard ? Math.round(((now - heard.at) * 65536) / 1000) >>> 0 : 0
    return [{ ...report, lastReport: heard?.lastReport ?? 0, delay }]
  }
}
