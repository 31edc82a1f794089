import type { Reception } from './reception.ts'
import { buildRtcp, compactNtp, type ReportBlock, type RtcpPacket } from './rtcp.ts'

/** Mean time between two reports, in ms (RFC 3550 section 6.2: 5 s is the least, and two parties never need more). */
const INTERVAL_MS = 5000
/** The randomised timer's compensation (section 6.3.1): e - 1.5. */
const COMPENSATION = Math.E - 1.5

/** What our reports say of what we sent. */
export interface Sent {
  readonly packets: number
  readonly octets: number
  /** The RTP timestamp that stands for `now`. */
  timestampAt(now: number): number
  /** Of the timestamps, in Hz; default 8000. */
  clockRate?(): number
}

/** What the far side's last report says of what we sent. */
export interface FarReport {
  /** Packets, over all that we sent. */
  readonly lost: number
  readonly jitterMs: number
}

/** RTCP of one port: when to report, what, and what the far side's reports tell. */
export class Reports {
  #ssrc: number
  #cname: string
  #reception: Reception
  #sent: Sent
  #random: () => number
  #dueAt: number | undefined
  #reportedPackets = 0
  #everReported = false
  #heard: { readonly ssrc: number; readonly lastReport: number; readonly at: number } | undefined
  #roundTripMs: number | undefined
  #far: FarReport | undefined
  /** The source that has said goodbye. */
  #gone: number | undefined

  constructor(options: {
    readonly ssrc: number
    readonly cname: string
    readonly reception: Reception
    readonly sent: Sent
    /** 0 to 1, as Math.random. */
    readonly random: () => number
  }) {
    this.#ssrc = options.ssrc
    this.#cname = options.cname
    this.#reception = options.reception
    this.#sent = options.sent
    this.#random = options.random
  }

  /** Of the far side's last report about us; undefined before one that refers to ours. */
  get roundTripMs(): number | undefined {
    return this.#roundTripMs
  }

  /** Undefined before the first one. */
  get far(): FarReport | undefined {
    return this.#far
  }

  /** The source that is heard has said goodbye (BYE). That ends nothing: SIP does, and many say it when they hold. */
  get farLeft(): boolean {
    return this.#gone !== undefined && (this.#reception.ssrc ?? this.#gone) === this.#gone
  }

  /** Begins to report; the first one comes after half the time (section 6.2). */
  start(now: number): void {
    this.#dueAt ??= now + this.#interval() / 2
  }

  /** A report, when one is due. */
  tick(now: number): Buffer | undefined {
    if (this.#dueAt === undefined || now < this.#dueAt) return undefined
    this.#dueAt = now + this.#interval()
    this.#everReported = true
    return buildRtcp(this.#compound(now))
  }

  /** The last packet; undefined where the far side has never heard of us (section 6.3.7). */
  bye(now: number): Buffer | undefined {
    if (!this.#everReported && this.#sent.packets === 0) return undefined
    return buildRtcp([...this.#compound(now), { kind: 'bye', ssrcs: [this.#ssrc] }])
  }

  /** Takes a compound of the far side. One with our own CNAME has come back, and says nothing about the far side. */
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

  /** Section 6.4.1: arrival minus last report minus delay, all in 65536ths of a second. */
  #hear(now: number, block: ReportBlock): void {
    if (block.ssrc !== this.#ssrc) return
    const clockRate = this.#sent.clockRate?.() ?? 8000
    this.#far = { lost: Math.max(0, block.lost), jitterMs: (block.jitter * 1000) / clockRate }
    if (block.lastReport === 0) return
    const trip = (compactNtp(now) - block.lastReport - block.delay) | 0
    // A far side that counts its delay roughly makes it slightly negative.
    this.#roundTripMs = Math.max(0, (trip * 1000) / 65536)
  }

  #interval(): number {
    return (INTERVAL_MS * (0.5 + this.#random())) / COMPENSATION
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
