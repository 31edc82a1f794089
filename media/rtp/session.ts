import { codecInfo } from '../codecs/codec-info.ts'
import type { Codecs } from '../codecs/types.ts'
import type { FarEnd, NearEnd, PortEvent, PortStats, Volumes } from '../types.ts'
import type { AudioSink } from './audio-sinks.ts'
import { Bridge } from './bridge.ts'
import type { FrameChannel } from './frame-channel.ts'
import { Latch, rtcpTarget } from './latch.ts'
import { Liveness, type LivenessTimeouts } from './liveness.ts'
import { estimateMos } from './mos.ts'
import type { StreamSeed } from './outgoing-stream.ts'
import { isRtcp, isStun } from './packet.ts'
import type { PromptMixer } from './prompt-mixer.ts'
import { Receiver } from './receiver.ts'
import { parseRtcp, rtcpSource } from './rtcp.ts'
import { RtcpReporter } from './rtcp-reporter.ts'
import { Sender } from './sender.ts'
import { type SrtpContext, SrtpContexts } from './srtp-context.ts'

/** Destination of a session's packets and events. Called synchronously from the session's methods. */
export interface SessionOutput {
  /** Sends `length` bytes from `offset`. The session does not reuse the buffer. */
  rtp(packet: Buffer, offset: number, length: number, port: number, address: string): void
  /** Sends RTCP; `muxed`: from the RTP socket. */
  rtcp(packet: Buffer, port: number, address: string, muxed: boolean): void
  event(event: PortEvent): void
  /** Reports that the last frame of a sound was sent. */
  played(play: number): void
  /** {@link Session.isBusy} or {@link Session.isFramed} may have become true. */
  wake(): void
}

/** Options of a {@link Session}. */
export interface SessionOptions {
  /** Whether the far end's port may differ from the announced one; false for far ends on this host. */
  readonly anyPort: boolean
  readonly seed: StreamSeed
  readonly cname: string
  readonly timeouts: LivenessTimeouts
  readonly codecs: Codecs
  /** Returns 0 to 1, as Math.random. */
  readonly random: () => number
}

/** Unspecified addresses, the old way to hold (RFC 3264 section 8.4). */
const unspecifiedAddresses = new Set(['0.0.0.0', '::'])

/**
 * RTP and RTCP of one port, without sockets, clocks or threads: its methods take packets and time, and it
 * outputs packets and events. Every `now` is in milliseconds since the Unix epoch, with fractions, and never
 * decreases.
 */
export class Session {
  /** Local audio for the far end. {@link wake} must be called after adding to it. */
  readonly promptMixer: PromptMixer
  #output: SessionOutput
  #receiver: Receiver
  #sender: Sender
  #rtcpLatch: Latch
  #reports: RtcpReporter
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
    this.promptMixer = this.#sender.promptMixer
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
    this.#liveness = new Liveness(options.timeouts)
  }

  /** Whether {@link tick} is needed every 10 ms; otherwise every 100 ms. */
  get isBusy(): boolean {
    return this.#sender.isBusy
  }

  /**
   * Whether {@link frameIn} and {@link frameOut} are needed every 20 ms: frameIn of all sessions, the mixers,
   * then frameOut of all.
   */
  get isFramed(): boolean {
    return this.#bridge.isFramed
  }

  /** Sets or changes the far end; see `MediaPort.setFar`. */
  setFar(now: number, near: NearEnd, far: FarEnd): void {
    const reachable = !unspecifiedAddresses.has(far.address)
    this.#far = far
    this.#srtp = far.srtp && this.#contexts.next(far.srtp)
    this.#receiver.srtp = this.#srtp?.receiver
    if (this.#srtp?.sender.isUnused) this.#sender.stream.avoidRollOver()
    this.#receiver.set(near, far, reachable)
    if (reachable) {
      this.#rtcpLatch.setTarget(rtcpTarget(far))
      this.#reports.start(now)
    }
    this.#sender.set(far, reachable && (far.direction === 'sendrecv' || far.direction === 'sendonly'))
    // A far side with another direction has put the call on hold, and need not send anything.
    this.#liveness.start(now, far.direction !== 'sendrecv' || !reachable)
    this.#bridge.set(far, far.direction === 'sendrecv' || far.direction === 'recvonly')
  }

  /** Processes a packet from the RTP socket, which may be RTCP. The session owns the buffer from now on. */
  receive(now: number, packet: Buffer, address: string, port: number): void {
    // STUN is ignored: phones behind NAT send it to check the path, and work without an answer.
    if (isStun(packet)) return
    if (isRtcp(packet)) {
      this.receiveRtcp(now, packet, address, port)
      return
    }
    const receiver = this.#receiver
    const accepted = receiver.accept(now, packet, address, port)
    if (!accepted) return
    this.#liveness.received(now)
    this.#bridge.receive(now, accepted, packet)
  }

  /** Processes a packet from the RTCP socket. */
  receiveRtcp(now: number, packet: Buffer, address: string, port: number): void {
    if (isStun(packet)) return
    const { refused } = this.#receiver
    const muxed = this.#far?.rtcpMux === true
    const latch = muxed ? this.#receiver.latch : this.#rtcpLatch
    if (!latch.accepts(now, address, port)) {
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
    // With multiplexing, the source is learnt from RTP only.
    if (
      !muxed &&
      latch.admit(now, address, port, rtcpSource(plain), this.#srtp !== undefined) === 'refused'
    ) {
      refused.ssrc++
      return
    }
    this.#reports.receive(now, packets)
    this.#liveness.received(now)
  }

  /** Connects two sessions; each leaves its former partner or channel. */
  join(other: Session): void {
    this.#bridge.join(other.#bridge)
  }

  /** Exchanges frames with `channel` in place of a partner; see {@link Bridge.connect}. */
  connect(channel: FrameChannel): void {
    this.#bridge.connect(channel)
  }

  /** Ends the join or leaves the channel (only if it is `channel`, when given). No effect without either. */
  detach(channel?: FrameChannel): void {
    this.#bridge.detach(channel)
  }

  /** See {@link Bridge.setVolumes}. */
  setVolumes(volumes: Volumes): void {
    this.#bridge.setVolumes(volumes)
  }

  /** Adds a sink, until {@link removeSink} or until the session is closed. */
  addSink(sink: AudioSink): void {
    this.#bridge.addSink(sink)
  }

  removeSink(sink: AudioSink): void {
    this.#bridge.removeSink(sink)
  }

  /** Reports that something was added to {@link promptMixer}. */
  wake(): void {
    this.#output.wake()
  }

  /** Sends digits; `done` is called once, with false if they cannot be sent. */
  sendDigits(digits: string, done: (sent: boolean) => void): void {
    this.#sender.sendDigits(digits, done)
    this.#output.wake()
  }

  /** Decodes 20 ms of the far end's audio; see {@link Bridge}. */
  frameIn(now: number): void {
    this.#bridge.frameIn(now)
  }

  /** Sends 20 ms to the far end. */
  frameOut(now: number): void {
    this.#bridge.frameOut(now)
  }

  /** Sends what is due, and reports what has expired. */
  tick(now: number): void {
    this.#sender.tick(now)
    this.#receiver.tick(now)
    const report = this.#reports.tick(now)
    if (report) this.#sendRtcp(report)
    const phase = this.#liveness.tick(now)
    if (phase) this.#output.event({ kind: 'timeout', phase })
  }

  /** Delay of the jitter buffer in ms; 0 before anything was decoded. */
  get bufferMs(): number {
    return this.#bridge.quality.bufferMs
  }

  stats(): PortStats {
    const { reception, octets, refused, codec } = this.#receiver
    const { received, lost, jitterMs } = reception
    const { roundTripMs, far, farLeft } = this.#reports
    const delay = roundTripMs === undefined ? {} : { roundTripMs }
    const { late, bufferMs } = this.#bridge.quality
    // Forwarded packets pass no local jitter buffer.
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

  /** Detaches the session, cancels everything queued and sends RTCP BYE. */
  close(now: number): void {
    this.#bridge.close()
    this.#sender.close()
    const bye = this.#reports.bye(now)
    if (bye) this.#sendRtcp(bye)
  }

  #makeReports({ seed, cname, random }: SessionOptions): RtcpReporter {
    const sender = this.#sender
    return new RtcpReporter({
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
        clockRate: () => codecInfo[this.#far?.codec ?? 'PCMU'].clockRate,
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
    // An empty result means that the packet's index was used before. The packet must be sent neither again
    // nor unencrypted.
    if (wire?.length === 0) return false
    if (wire) this.#output.rtp(wire, 0, wire.length, latch.port, latch.address)
    else this.#output.rtp(packet, offset, length, latch.port, latch.address)
    return true
  }

  #sendRtcp(packet: Buffer): void {
    const far = this.#far
    if (!far || unspecifiedAddresses.has(far.address)) return
    const latch = far.rtcpMux ? this.#receiver.latch : this.#rtcpLatch
    // The private address of a far end may belong to another host in the local network.
    if (latch.isHidden) return
    const wire = this.#srtp ? this.#srtp.sender.protectRtcp(packet) : packet
    this.#output.rtcp(wire, latch.port, latch.address, far.rtcpMux === true)
  }
}
