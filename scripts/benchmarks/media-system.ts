/** Process that `scripts/bench media` measures: the media edge with calls between sockets of the load. */
import { createEdge } from '../../media/edge/edge.ts'
import type { SocketKind } from '../../media/edge/sockets-open.ts'
import type { Edge, FarEnd, MediaPort, SrtpKeys } from '../../media/types.ts'
import { loadKey, ssrcOf, suite } from './media-load.ts'

/**
 * First leg of a call; the second leg is a plain carrier. `sdes`: carrier with SRTP. `loopback`: port to
 * mediasoup, whose packets the load sends. `browser`: mediasoup behind such a port, with SRTP to the load.
 */
export type Leg = 'plain' | 'sdes' | 'loopback' | 'browser'

/** Request to set up calls: sockets 2i and 2i + 1 of the load are the ends of call i. */
export interface Request {
  readonly leg: Leg
  readonly sockets: SocketKind
  readonly ports: readonly number[]
}

/** Destination ports of the load; `worker` is the id of mediasoup's process. */
export interface Answer {
  readonly ports: readonly number[]
  readonly worker?: number
}

const near = { codecs: [{ codec: 'PCMU', payloadType: 0 }] } as const
const host = '127.0.0.1'
const keys: SrtpKeys = { suite, sendKey: Buffer.alloc(30, 9), receiveKey: loadKey }

const farAt = (port: number, more: Partial<FarEnd> = {}): FarEnd => ({
  address: host,
  port,
  rtcpMux: true,
  codec: 'PCMU',
  payloadType: 0,
  direction: 'sendrecv',
  ...more,
})

/** Sets the far end of the port. Resolves with the destination port of the load. */
type Connect = (port: MediaPort, load: number, number: number) => Promise<number>

const straight =
  (more: Partial<FarEnd>): Connect =>
  async (port, load) => {
    port.setFar(near, farAt(load, more))
    return port.port
  }

/** Connects through mediasoup: one plain transport to a loopback port, and one with SRTP to the load. */
const throughMediasoup = async (): Promise<{ readonly connect: Connect; readonly pid: number }> => {
  const { createWorker } = await import('mediasoup')
  const worker = await createWorker({ logLevel: 'error' })
  const codec = { mimeType: 'audio/PCMU', payloadType: 0, clockRate: 8000 }
  const router = await worker.createRouter({
    mediaCodecs: [{ kind: 'audio', mimeType: codec.mimeType, clockRate: 8000, preferredPayloadType: 0 }],
  })
  const rtpCapabilities = {
    codecs: [{ kind: 'audio' as const, mimeType: codec.mimeType, clockRate: 8000, preferredPayloadType: 0 }],
    headerExtensions: [],
  }
  const produceFrom = (ssrc: number) => ({
    kind: 'audio' as const,
    rtpParameters: { codecs: [codec], encodings: [{ ssrc }], rtcp: { cname: String(ssrc) } },
  })
  const connect: Connect = async (port, load, number) => {
    const inside = await router.createPlainTransport({ listenIp: host, rtcpMux: true })
    const outside = await router.createPlainTransport({ listenIp: host, rtcpMux: true, enableSrtp: true })
    await inside.connect({ ip: host, port: port.port })
    await outside.connect({
      ip: host,
      port: load,
      srtpParameters: { cryptoSuite: 'AES_CM_128_HMAC_SHA1_80', keyBase64: loadKey.toString('base64') },
    })
    const down = await inside.produce(produceFrom(port.ssrc))
    await outside.consume({ producerId: down.id, rtpCapabilities })
    const up = await outside.produce(produceFrom(ssrcOf(number)))
    await inside.consume({ producerId: up.id, rtpCapabilities })
    port.setFar(near, farAt(inside.tuple.localPort))
    return outside.tuple.localPort
  }
  return { connect, pid: worker.pid }
}

const connectBy = async (leg: Leg): Promise<{ readonly connect: Connect; readonly pid?: number }> => {
  if (leg === 'browser') return throughMediasoup()
  return { connect: straight(leg === 'sdes' ? { srtp: keys } : {}) }
}

const setUp = async (edge: Edge, { leg, ports }: Request): Promise<Answer> => {
  const { connect, pid } = await connectBy(leg)
  const plain = straight({})
  const answered: number[] = []
  for (let i = 0; i < ports.length; i += 2) {
    const group = `call-${i}`
    const first = await edge.open({
      group,
      kind: leg === 'loopback' || leg === 'browser' ? 'loopback' : 'carrier',
    })
    const second = await edge.open({ group, kind: 'carrier' })
    answered.push(await connect(first, ports[i]!, i), await plain(second, ports[i + 1]!, i + 1))
    edge.join(first, second)
  }
  return { ports: answered, ...(pid !== undefined && { worker: pid }) }
}

process.once('message', async (request: Request) => {
  const edge = await createEdge({
    bind: host,
    ports: { from: 20_000, to: 32_000 },
    threads: 1,
    startTimeoutMs: 60_000,
    mediaTimeoutMs: 60_000,
    sockets: request.sockets,
  })
  process.send?.('started')
  process.once('message', async () => process.send?.(await setUp(edge, request)))
})
process.on('disconnect', () => process.exit())
