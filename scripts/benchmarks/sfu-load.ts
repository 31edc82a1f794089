/** Load of `scripts/bench sfu`: cameras, and viewers that decrypt what they receive. */
import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { createWorker, type types } from 'mediasoup'
import { Vp8Source } from '../../media/rooms/testing/vp8-source.ts'
import { Routers } from '../../media/webrtc/routers.ts'
import { ownVideo } from '../../media/webrtc/sdp/video-format.ts'

/** Frames per second of a camera. With four packets of 1,040 bytes each, that is 1 Mbit/s. */
const framesPerSecond = 30
const packetsPerFrame = 4
const packetBytes = 1040

/** Bytes per second of a camera. */
export const cameraBytes = framesPerSecond * packetsPerFrame * packetBytes

/** Camera that sends RTP to a port of 127.0.0.1. */
export class Camera {
  readonly #socket: Socket
  readonly #port: number
  readonly #packets: Vp8Source
  readonly #text = 'x'.repeat(packetBytes - 30)

  constructor(socket: Socket, port: number, ssrc: number) {
    this.#socket = socket
    this.#port = port
    this.#packets = new Vp8Source({ ssrc, payloadType: ownVideo.payloadType })
  }

  /** Sends a frame. */
  send(): void {
    for (const packet of this.#packets.frame({ isKey: true, packets: packetsPerFrame, text: this.#text }))
      this.#socket.send(packet, this.#port, '127.0.0.1')
  }
}

/** Sends all cameras in real time for `seconds`. */
export const play = async (cameras: readonly Camera[], seconds: number): Promise<void> => {
  const began = performance.now()
  const due = () => Math.floor(((performance.now() - began) / 1000) * framesPerSecond)
  for (let frames = 0; performance.now() - began < seconds * 1000; ) {
    for (; frames < due(); frames++) for (const camera of cameras) camera.send()
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

/** mediasoup process of the viewers, apart from the measured one. */
export class Load {
  readonly router: types.Router
  readonly socket: Socket
  readonly #worker: types.Worker
  readonly #viewers: types.Transport[] = []

  private constructor(worker: types.Worker, router: types.Router, socket: Socket) {
    this.#worker = worker
    this.router = router
    this.socket = socket
  }

  static async start(): Promise<Load> {
    const worker = await createWorker({ logLevel: 'none' })
    const socket = createSocket('udp4').bind(0, '127.0.0.1')
    await once(socket, 'listening')
    return new Load(worker, await new Routers(worker).video(ownVideo), socket)
  }

  /** Opens a viewer with the keys of both sides exchanged. Returns the transport that sends to it. */
  async openViewer(router: types.Router): Promise<types.PlainTransport> {
    const options = {
      listenIp: '127.0.0.1',
      rtcpMux: true,
      enableSrtp: true,
      srtpCryptoSuite: 'AEAD_AES_256_GCM',
    } as const
    const from = await router.createPlainTransport(options)
    const to = await this.router.createPlainTransport(options)
    this.#viewers.push(to)
    for (const [one, other] of [
      [from, to],
      [to, from],
    ] as const)
      await one.connect({
        ip: '127.0.0.1',
        port: other.tuple.localPort,
        srtpParameters: other.srtpParameters!,
      })
    return from
  }

  /** Opens a viewer with ICE and DTLS at this address of the machine. */
  async openPeer(ip: string): Promise<types.WebRtcTransport> {
    const peer = await this.router.createWebRtcTransport({
      listenInfos: [{ protocol: 'udp', ip }],
    })
    this.#viewers.push(peer)
    return peer
  }

  /** Returns the bytes that all viewers have received. */
  async received(): Promise<number> {
    const stats = await Promise.all(
      this.#viewers.map((viewer) => viewer.getStats() as Promise<types.BaseTransportStats[]>),
    )
    return stats.flat().reduce((sum, { bytesReceived }) => sum + bytesReceived, 0)
  }

  close(): void {
    this.#worker.close()
    this.socket.close()
  }
}
