import { createSocket, type Socket } from 'node:dgram'
import { decode, encode, type G711 } from '../codecs/g711.ts'
import { isRtcp, readRtp, rtpView, writeRtpHeader } from '../rtp/packet.ts'
import type { FarEnd, NearEnd } from '../types.ts'

/** One packet that a {@link TestPeer} heard. */
export interface Heard {
  readonly payloadType: number
  readonly marker: boolean
  readonly sequence: number
  readonly timestamp: number
  readonly ssrc: number
  readonly payload: Buffer
}

/** A far end for tests: a socket on 127.0.0.1 that sends what it is told, and keeps what it hears. */
export class TestPeer {
  readonly heard: Heard[] = []
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

  /** Binds it to a free port. */
  static open(address = '127.0.0.1'): Promise<TestPeer> {
    const socket = createSocket('udp4')
    return new Promise((resolve, reject) => {
      socket.once('error', reject)
      socket.bind(0, address, () => resolve(new TestPeer(socket)))
    })
  }

  get port(): number {
    return this.#socket.address().port
  }

  /** What `setFar` needs to reach this peer; events are payload type 101. RTCP comes to the same socket. */
  far(codec: G711, more: Partial<FarEnd> = {}): { near: NearEnd; far: FarEnd } {
    const payloadType = codec === 'PCMU' ? 0 : 8
    return {
      near: { codecs: [{ codec, payloadType }], telephoneEvent: 101 },
      far: {
        address: '127.0.0.1',
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

  /** Sends one packet; sequence and timestamp go on by themselves. */
  send(to: number, payloadType: number, payload: Uint8Array, marker = false): void {
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
    this.timestamp = (this.timestamp + 160) >>> 0
    this.sendRaw(to, packet)
  }

  /** Sends bytes as they are. */
  sendRaw(to: number, packet: Uint8Array): void {
    this.#socket.send(packet, to, '127.0.0.1')
  }

  /** Sends `samples` in packets of 20 ms, at their pace. */
  async talk(to: number, law: G711, samples: Int16Array): Promise<void> {
    const bytes = encode(law, samples)
    const start = performance.now()
    for (let at = 0, n = 0; at < bytes.length; at += 160, n++) {
      const wait = start + n * 20 - performance.now()
      if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait))
      this.send(to, law === 'PCMU' ? 0 : 8, bytes.subarray(at, at + 160))
    }
  }

  /** Waits until `enough` of what was heard. */
  until(enough: () => boolean): Promise<void> {
    if (enough()) return Promise.resolve()
    return new Promise((resolve) => this.#waiting.push({ enough, resolve }))
  }

  /** The audio heard of one payload type, decoded. */
  audio(law: G711, from = 0): Int16Array {
    const payloadType = law === 'PCMU' ? 0 : 8
    const packets = this.heard.slice(from).filter((packet) => packet.payloadType === payloadType)
    return decode(law, Buffer.concat(packets.map(({ payload }) => payload)))
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
