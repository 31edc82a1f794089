import type { FarEnd, NearEnd, PortEvent, PortStats } from '../types.ts'
import { Latch, type LatchTarget } from './latch.ts'
import { Liveness, type Patience } from './liveness.ts'
import { isRtcp, isStun } from './packet.ts'
import { Receiver } from './receiver.ts'
import { Reports } from './reports.ts'
import { parseRtcp, rtcpSource } from './rtcp.ts'
import { Sender } from './sender.ts'
import { nextContext, type SrtpContext } from './srtp-context.ts'
import type { StreamSeed } from './stream-out.ts'

/** Where a session's packets and events go. Called from within its methods, in order. */
export interface SessionOutput {
  /** Sends `length` bytes from `offset`. The buffer is not used again by the session. */
  rtp(packet: Buffer, offset: number, length: number, port: number, address: string): void
  /** `muxed`: from the RTP socket. */
  rtcp(packet: Buffer, port: number, address: string, muxed: boolean): void
  event(event: PortEvent): void
  /** The last frame of that sound was sent. */
  played(play: number): void
}

/** How a session begins. */
export interface SessionOptions {
  /** Whether the far end's port may differ from what it announced: not for those on this host. */
  readonly anyPort: boolean
  readonly seed: StreamSeed
  readonly cname: string
  readonly patience: Patience
  /** 0 to 1, as Math.random. */
  readonly random: () => number
}

/** Addresses that name nobody: the old way to hold (RFC 3264 section 8.4). */
const NOBODY = new Set(['0.0.0.0', '::'])

/**
 * Where RTCP is exchanged. Of `first` it has no more than `same-ip`, and where RTP was learnt from: the first packet that anybody sends is
 * no better known for being RTCP.
 */
const rtcpTarget = (far: FarEnd): LatchTarget => ({
  ...far,
  address: far.rtcpAddress ?? far.address,
  port: far.rtcpPort ?? (far.rtcpMux ? far.port : far.port + 1),
  ...(far.symmetric === 'first' && { symmetric: 'same-ip' }),
})

/**
 * RTP and RTCP of one port, without sockets, clocks or threads: packets and the time come in, packets and events go out. Every `now`
 * is milliseconds since the Unix epoch, with fractions where there are any, and never goes back.
 */
export class Session {
  #output: SessionOutput
  #receiver: Receiver
  #sender: Sender
  #rtcpLatch: Latch
  #reports: Reports
  #liveness: Liveness
  #far: FarEnd | undefined
  #srtp: SrtpContext | undefined
  #hears = false
  #partner: Session | undefined

  constructor(options: SessionOptions, output: SessionOutput) {
    this.#output = output
    this.#receiver = new Receiver(
      options.anyPort,
      options.seed.ssrc,
      (digit, durationMs) => output.event({ kind: 'digit', digit, durationMs, by: 'event' }),
      (address, port, ssrc, learnt) => {
        this.#rtcpLatch.follow(address, port, ssrc)
        if (learnt) output.event({ kind: 'latched', address, port })
      },
    )
    const { latch } = this.#receiver
    this.#sender = new Sender(
      options.seed,
      (packet, offset, length) => {
        const wire = this.#srtp?.sender.protect(packet.subarray(offset, offset + length))
        if (wire) output.rtp(wire, 0, wire.length, latch.port, latch.address)
        else output.rtp(packet, offset, length, latch.port, latch.address)
      },
      (play) => output.played(play),
    )
    this.#rtcpLatch = new Latch(options.anyPort)
    const sender = this.#sender
    this.#reports = new Reports({
      ssrc: options.seed.ssrc,
      cname: options.cname,
      random: options.random,
      reception: this.#receiver.reception,
      sent: {
        get packets() {
          return sender.packets
        },
        get octets() {
          return sender.octets
        },
        timestampAt: (now) => sender.stream.timestampAt(now),
      },
    })
    this.#liveness = new Liveness(options.patience)
  }

  /** Whether {@link tick} is needed at the pace of packets; else every 100 ms is enough. */
  get busy(): boolean {
    return this.#sender.busy
  }

  /** Tells or changes the far end; see `MediaPort.setFar`. */
  setFar(now: number, near: NearEnd, far: FarEnd): void {
    const reachable = !NOBODY.has(far.address)
    this.#far = far
    this.#srtp = far.srtp && nextContext(far.srtp, this.#srtp)
    this.#receiver.srtp = this.#srtp?.receiver
    this.#hears = far.direction === 'sendrecv' || far.direction === 'recvonly'
    this.#receiver.set(near, far, reachable)
    if (reachable) {
      this.#rtcpLatch.aim(rtcpTarget(far))
      this.#reports.start(now)
    }
    this.#sender.set(far, reachable && (far.direction === 'sendrecv' || far.direction === 'sendonly'))
    // A far side that only sends has put us on hold, and need not have music for it.
    this.#liveness.start(now, far.direction !== 'sendrecv' || !reachable)
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
    if (!this.#partner || !this.#hears) return
    const sender = this.#partner.#sender
    const { view } = receiver
    if (accepted === 'audio') sender.forward(now, receiver, packet, view, receiver.codec)
    else sender.stream.leaveOut(receiver, view.ssrc, view.sequence)
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

  /** Cross-connects two sessions; each leaves its former partner. */
  join(other: Session): void {
    this.part()
    other.part()
    this.#partner = other
    other.#partner = this
  }

  /** Ends a join; harmless when there is none. */
  part(): void {
    const other = this.#partner
    if (!other) return
    this.#partner = undefined
    other.#partner = undefined
    // Their numbering is over, even if the same two are joined again.
    this.#sender.stream.interrupt(other.#receiver)
    other.#sender.stream.interrupt(this.#receiver)
  }

  /** Plays `samples` (8 kHz) in place of what was being played; `play` names it in {@link SessionOutput.played}. */
  play(play: number, samples: Int16Array, loop: number, volumeDb: number): void {
    this.#sender.play(play, samples, loop, volumeDb)
  }

  /** Stops that sound, if it is still being played. */
  stop(play: number): void {
    this.#sender.stop(play)
  }

  /** Sends digits; `done` is called once, false where they cannot be sent. */
  sendDigits(digits: string, done: (sent: boolean) => void): void {
    this.#sender.sendDigits(digits, done)
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
    const { reception, octets, refused } = this.#receiver
    const { roundTripMs } = this.#reports
    return {
      received: reception.received,
      sent: this.#sender.packets,
      octetsReceived: octets,
      octetsSent: this.#sender.octets,
      lost: reception.lost,
      jitterMs: reception.jitterMs,
      ...(roundTripMs === undefined ? {} : { roundTripMs }),
      refused: { ...refused },
    }
  }

  /** Parts, gives up what is queued, and says goodbye to the far side. */
  close(now: number): void {
    this.part()
    this.#sender.close()
    const bye = this.#reports.bye(now)
    if (bye) this.#sendRtcp(bye)
  }

  #sendRtcp(packet: Buffer): void {
    const far = this.#far
    if (!far || NOBODY.has(far.address)) return
    const latch = far.rtcpMux ? this.#receiver.latch : this.#rtcpLatch
    const wire = this.#srtp ? this.#srtp.sender.protectRtcp(packet) : packet
    this.#output.rtcp(wire, latch.port, latch.address, far.rtcpMux === true)
  }
}
