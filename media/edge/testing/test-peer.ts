import { createSocket, type Socket } from 'node:dgram'
import { isRtcp, readRtp, rtpView, writeRtpHeader } from '../../rtp/packet.ts'
import { decoded, payloadTypeOf, rateOf, testCodecs, unitsOf } from '../../rtp/testing/codecs.ts'
import type { AudioCodec, FarEnd, NearEnd } from '../../types.ts'

/** One packet that a {@link TestPeer} received. */
export interface ReceivedPacket {
  readonly payloadType: number
  readonly marker: boolean
  readonly sequence: number
  readonly timestamp: number
  readonly ssrc: number
  readonly payload: Buffer
}

/** Far end for tests: a socket on 127.0.0.1 that sends packets and records what it receives. */
export class TestPeer {
  readonly heard: ReceivedPacket[] = []
  readonly rtcp: Buffer[] = []
  #socket: Socket
  #waiting: { readonly enough: () => boolean; readonly resolve: () => void }[] = []
  sequence = 1000
  timestamp = 50_000
  ssrc = 0x11223344

  constructor(socket: Socket) {
    this.#socket = socket
    socket.on('message', (packet) => this.#take(packet))
  }

  /** Binds the peer to a free port. */
  static open(address = '127.0.0.1'): Promise<TestPeer> {
    const socket = createSocket(address.includes(':') ? 'udp6' : 'udp4')
    return new Promise((resolve, reject) => {
      socket.once('error', reject)
      socket.bind(0, address, () => resolve(new TestPeer(socket)))
    })
  }

  get address(): string {
    return this.#socket.address().address
  }

  get port(): number {
    return this.#socket.address().port
  }

  /** Returns the arguments of `setFar` for this peer; events have payload type 101. RTCP is multiplexed. */
  far(codec: AudioCodec, more: Partial<FarEnd> = {}): { near: NearEnd; far: FarEnd } {
    const payloadType = payloadTypeOf(codec)
    return {
      near: { codecs: [{ codec, payloadType }], telephoneEvent: 101 },
      far: {
        address: this.address,
        port: this.port,
        rtcpMux: true,
        codec,
        payloadType,
        telephoneEvent: 101,
        direction: 'sendrecv',
        ...more,
      },
    }
  }

  /** Sends one packet; sequence and timestamp advance automatically. */
  send(to: number, payloadType: number, payload: Uint8Array, marker = false, units = 160): void {
    const packet = Buffer.alloc(12 + payload.length)
    writeRtpHeader(packet, 0, {
      payloadType,
      marker,
      sequence: this.sequence,
      timestamp: this.timestamp,
      ssrc: this.ssrc,
    })
    packet.set(payload, 12)
    this.sequence = (this.sequence + 1) & 0xffff
    this.timestamp = (this.timestamp + units) >>> 0
    this.sendRaw(to, packet)
  }

  /** Sends bytes unchanged. */
  sendRaw(to: number, packet: Uint8Array): void {
    this.#socket.send(packet, to, this.address.includes(':') ? '::1' : '127.0.0.1')
  }

  /**
   * Sends `samples`, at {@link rateOf} the codec, in packets of 20 ms in real time, like a phone. Media
   * threads run by the system's clock, which no test can inject, and their jitter buffers would drop a burst.
   */
  async talk(to: number, codec: AudioCodec, samples: Int16Array): Promise<void> {
    const encoder = testCodecs.encoder(codec, { ptimeMs: 20, sampleRate: rateOf(codec) })
    const start = performance.now()
    const out = new Uint8Array(encoder.maxBytes)
    const units = unitsOf(codec)
    for (let at = 0, n = 0; at + encoder.frameSamples <= samples.length; at += encoder.frameSamples, n++) {
      const wait = start + n * 20 - performance.now()
      if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait))
      const bytes = encoder.encode(samples, at, out, 0)
      this.send(to, payloadTypeOf(codec), out.slice(0, bytes), false, units)
    }
    encoder.close()
  }

  /** Resolves when `enough` returns true after a received packet. */
  until(enough: () => boolean): Promise<void> {
    if (enough()) return Promise.resolve()
    return new Promise((resolve) => this.#waiting.push({ enough, resolve }))
  }

  /** Returns the decoded audio of one codec, at {@link rateOf} it. */
  audio(codec: AudioCodec, from = 0): Int16Array {
    const payloadType = payloadTypeOf(codec)
    const packets = this.heard.slice(from).filter((packet) => packet.payloadType === payloadType)
    return decoded(
      codec,
      packets.map(({ payload }) => payload),
    )
  }

  close(): Promise<void> {
    return new Promise((resolve) => this.#socket.close(() => resolve()))
  }

  #take(packet: Buffer): void {
    if (isRtcp(packet)) this.rtcp.push(packet)
    else {
      const view = rtpView()
      if (!readRtp(packet, view)) throw new Error('the edge sent a malformed packet')
      const { payloadType, marker, sequence, timestamp, ssrc, start, end } = view
      this.heard.push({
        payloadType,
        marker,
        sequence,
        timestamp,
        ssrc,
        payload: packet.subarray(start, end),
      })
    }
    this.#waiting = this.#waiting.filter(({ enough, resolve }) => {
      if (!enough()) return true
      resolve()
      return false
    })
  }
}
