import { codecFacts } from '../codecs/facts.ts'
import type { Codecs } from '../codecs/types.ts'
import type { FarEnd, NearEnd, PortEvent, PortStats, Volumes } from '../types.ts'
import { Bridge } from './bridge.ts'
import type { Ear } from './ears.ts'
import { Latch, rtcpTarget } from './latch.ts'
import type { FrameLine } from './line.ts'
import { Liveness, type Patience } from './liveness.ts'
import { estimateMos } from './mos.ts'
import { isRtcp, isStun } from './packet.ts'
import { Receiver } from './receiver.ts'
import { Reports } from './reports.ts'
import { parseRtcp, rtcpSource } from './rtcp.ts'
import { Sender } from './sender.ts'
import { type SrtpContext, SrtpContexts } from './srtp-context.ts'
import type { StreamSeed } from './stream-out.ts'
import type { Talk } from './talk.ts'

/** Where a session's packets and events go. Called from within its methods, in order. */
export interface SessionOutput {
  /** Sends `length` bytes from `offset`. The buffer is not used again by the session. */
  rtp(packet: Buffer, offset: number, length: number, port: number, address: string): void
  /** `muxed`: from the RTP socket. */
  rtcp(packet: Buffer, port: number, address: string, muxed: boolean): void
  event(event: PortEvent): void
  /** The last frame of that sound was sent. */
  played(play: number): void
  /** {@link Session.busy} or {@link Session.framed} may have become true. */
  wake(): void
}

/** How a session begins. */
export interface SessionOptions {
  /** Whether the far end's port may differ from what it announced: not for those on this host. */
  readonly anyPort: boolean
  readonly seed: StreamSeed
  readonly cname: string
  readonly patience: Patience
  readonly codecs: Codecs
  /** 0 to 1, as Math.random. */
  readonly random: () => number
}

/** Addresses that name nobody: the old way to hold (RFC 3264 section 8.4). */
const NOBODY = new Set(['0.0.0.0', '::'])

/**
 * RTP and RTCP of one port, without sockets, clocks or threads: packets and the time come in, packets and events go out. Every `now`
 * is milliseconds since the Unix epoch, with fractions where there are any, and never goes back.
 */
export class Session {
  /** What is made here for the far end to hear. {@link wake} is to be called when something was added to it. */
  readonly talk: Talk
  #output: SessionOutput
  #receiver: Receiver
  #sender: Sender
  #rtcpLatch: Latch
  #reports: Reports
  #liveness: Liveness
  #far: FarEnd | undefined
  #srtp: SrtpContext | undefined
  #contexts = new SrtpContexts()
  #bridge: Bridge

  constructor(options: SessionOptions, output: SessionOutput) {
    this.#output = output
    this.#receiver = new Receiver(
      options.anyPort,
      (digit, durationMs) => this.#onDigit(digit, durationMs, 'event'),
      (address, port, ssrc, learnt) => {
        this.#rtcpLatch.follow(address, port, ssrc)
        if (learnt) output.event({ kind: 'latched', address, port })
      },
    )
    this.#sender = new Sender({
      seed: options.seed,
      codecs: options.codecs,
      send: (packet, offset, length) => this.#send(packet, offset, length),
      onPlayed: (play) => output.played(play),
    })
    this.talk = this.#sender.talk
    this.#bridge = new Bridge({
      receiver: this.#receiver,
      sender: this.#sender,
      codecs: options.codecs,
      noiseSeed: options.seed.ssrc,
      onDigit: (digit, durationMs) => this.#onDigit(digit, durationMs, 'audio'),
      wake: () => output.wake(),
    })
    this.#rtcpLatch = new Latch(options.anyPort)
    this.#reports = this.#makeReports(options)
    this.#liveness = new Liveness(options.patience)
  }

  /** Whether {@link tick} is needed every 10 ms; else every 100 ms is enough. */
  get busy(): boolean {
    return this.#sender.busy
  }

  /** Whether {@link frameIn} and {@link frameOut} are needed every 20 ms: of all sessions the one, then the mixers, then the other. */
  get framed(): boolean {
    return this.#bridge.framed
  }

  /** Tells or changes the far end; see `MediaPort.setFar`. */
  setFar(now: number, near: NearEnd, far: FarEnd): void {
    const reachable = !NOBODY.has(far.address)
    this.#far = far
    this.#srtp = far.srtp && this.#contexts.next(far.srtp)
    this.#receiver.srtp = this.#srtp?.receiver
    if (this.#srtp?.sender.unused) this.#sender.stream.avoidRollOver()
    this.#receiver.set(near, far, reachable)
    if (reachable) {
      this.#rtcpLatch.aim(rtcpTarget(far))
      this.#reports.start(now)
    }
    this.#sender.set(far, reachable && (far.direction === 'sendrecv' || far.direction === 'sendonly'))
    // A far side that only sends has put us on hold, and need not have music for it.
    this.#liveness.start(now, far.direction !== 'sendrecv' || !reachable)
    this.#bridge.set(far, far.direction === 'sendrecv' || far.direction === 'recvonly')
  }

  /** Takes a packet from the RTP socket, which may be RTCP as well. The session owns the buffer from now on. */
  receive(now: number, packet: Buffer, address: string, port: number): void {
    // Phones behind NAT ask by it whether the way is open, and do well without an answer.
    if (isStun(packet)) return
    if (isRtcp(packet)) {
      this.receiveRtcp(now, packet, address, port)
      return
    }
    const receiver = this.#receiver
    const accepted = receiver.accept(now, packet, address, port)
    if (!accepted) return
    this.#liveness.alive(now)
    this.#bridge.take(now, accepted, packet)
  }

  /** Takes a packet from the RTCP socket. */
  receiveRtcp(now: number, packet: Buffer, address: string, port: number): void {
    if (isStun(packet)) return
    const { refused } = this.#receiver
    const muxed = this.#far?.rtcpMux === true
    const latch = muxed ? this.#receiver.latch : this.#rtcpLatch
    if (!latch.agrees(now, address, port)) {
      refused.source++
      return
    }
    const plain = this.#srtp ? this.#srtp.receiver.unprotectRtcp(packet) : packet
    if (!plain) {
      refused.srtp++
      return
    }
    const packets = parseRtcp(plain)
    if (!packets) {
      refused.malformed++
      return
    }
    // With one port for both, only RTP decides where the audio goes.
    if (
      !muxed &&
      latch.admit(now, address, port, rtcpSource(plain), this.#srtp !== undefined) === 'refused'
    ) {
      refused.ssrc++
      return
    }
    this.#reports.receive(now, packets)
    this.#liveness.alive(now)
  }

  /** Cross-connects two sessions; each leaves its former partner or line. */
  join(other: Session): void {
    this.#bridge.join(other.#bridge)
  }

  /** Exchanges frames with `line` in place of a partner; see {@link Bridge.connect}. */
  connect(line: FrameLine): void {
    this.#bridge.connect(line)
  }

  /** Ends a join, or leaves the line (if it is `line`, where that is given); harmless when there is none. */
  part(line?: FrameLine): void {
    this.#bridge.part(line)
  }

  /** See {@link Bridge.setVolumes}. */
  setVolumes(volumes: Volumes): void {
    this.#bridge.setVolumes(volumes)
  }

  /** Lets `ear` listen until {@link unlisten}, or until the session is closed. */
  listen(ear: Ear): void {
    this.#bridge.listen(ear)
  }

  unlisten(ear: Ear): void {
    this.#bridge.unlisten(ear)
  }

  /** Something was added to {@link talk}. */
  wake(): void {
    this.#output.wake()
  }

  /** Sends digits; `done` is called once, false where they cannot be sent. */
  sendDigits(digits: string, done: (sent: boolean) => void): void {
    this.#sender.sendDigits(digits, done)
    this.#output.wake()
  }

  /** Makes 20 ms of what the far end says; see {@link Bridge}. */
  frameIn(now: number): void {
    this.#bridge.frameIn(now)
  }

  /** Sends 20 ms of what it is to hear. */
  frameOut(now: number): void {
    this.#bridge.frameOut(now)
  }

  /** Sends what is due, and reports what is over. */
  tick(now: number): void {
    this.#sender.tick(now)
    this.#receiver.tick(now)
    const report = this.#reports.tick(now)
    if (report) this.#sendRtcp(report)
    const phase = this.#liveness.tick(now)
    if (phase) this.#output.event({ kind: 'timeout', phase })
  }

  stats(): PortStats {
    const { reception, octets, refused, codec } = this.#receiver
    const { received, lost, jitterMs } = reception
    const { roundTripMs, far, farLeft } = this.#reports
    const delay = roundTripMs === undefined ? {} : { roundTripMs }
    const { late, bufferMs } = this.#bridge.quality
    // Where packets are passed on as they are, the jitter buffer is the listener's own.
    const buffer = bufferMs > 0 ? { bufferMs } : {}
    const heard = { codec, received, lost, late, jitterMs, ...delay, ...buffer }
    return {
      received,
      sent: this.#sender.packets,
      octetsReceived: octets,
      octetsSent: this.#sender.octets,
      lost,
      jitterMs,
      ...delay,
      ...(far && { far }),
      ...(farLeft && { farLeft }),
      ...(reception.hasAudio && { mos: estimateMos(heard) }),
      refused: { ...refused },
    }
  }

  /** Parts, gives up what is queued, and says goodbye to the far side. */
  close(now: number): void {
    this.#bridge.close()
    this.#sender.close()
    const bye = this.#reports.bye(now)
    if (bye) this.#sendRtcp(bye)
  }

  #makeReports({ seed, cname, random }: SessionOptions): Reports {
    const sender = this.#sender
    return new Reports({
      ssrc: seed.ssrc,
      cname,
      random,
      reception: this.#receiver.reception,
      sent: {
        get packets() {
          return sender.packets
        },
        get octets() {
          return sender.octets
        },
        timestampAt: (now) => sender.stream.timestampAt(now),
        clockRate: () => codecFacts[this.#far?.codec ?? 'PCMU'].clockRate,
      },
    })
  }

  #onDigit(digit: string, durationMs: number, by: 'event' | 'audio'): void {
    this.#output.event({ kind: 'digit', digit, durationMs, by })
    this.#bridge.digit(digit)
  }

  #send(packet: Buffer, offset: number, length: number): boolean {
    const { latch } = this.#receiver
    const wire = this.#srtp?.sender.protect(packet.subarray(offset, offset + length))
    // Its number was used already, so nothing goes out, neither under the same key again nor in the clear.
    if (wire?.length === 0) return false
    if (wire) this.#output.rtp(wire, 0, wire.length, latch.port, latch.address)
    else this.#output.rtp(packet, offset, length, latch.port, latch.address)
    return true
  }

  #sendRtcp(packet: Buffer): void {
    const far = this.#far
    if (!far || NOBODY.has(far.address)) return
    const latch = far.rtcpMux ? this.#receiver.latch : this.#rtcpLatch
    // Here the address may be that of a host in our own network.
    if (latch.isHidden) return
    const wire = this.#srtp ? this.#srtp.sender.protectRtcp(packet) : packet
    this.#output.rtcp(wire, latch.port, latch.address, far.rtcpMux === true)
  }
}
