/** CPU of separate cameras: lines of the gateway, compared with consumers of bare mediasoup. */
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createWorker, type types } from 'mediasoup'
import { systemClock } from '../../media/clock.ts'
import { Vp8Source } from '../../media/rooms/testing/vp8-source.ts'
import { Routers } from '../../media/webrtc/routers.ts'
import { ownVideo } from '../../media/webrtc/sdp/video-format.ts'
import { SharedPipes } from '../../media/webrtc/tracks/shared-pipes.ts'
import { TrackLines } from '../../media/webrtc/tracks/track-lines.ts'
import type { TracksSession } from '../../media/webrtc/tracks/tracks-session.ts'
import type { VideoSource } from '../../media/webrtc/video/incoming-video.ts'
import { consumerCapabilities } from '../../media/webrtc/video-parameters.ts'

/** A camera: 30 frames per second, four packets of 1,040 bytes each, which is 1 Mbit/s. */
const frameMs = 1000 / 30
const packetsPerFrame = 4
const packetBytes = 1040

interface Camera {
  readonly source: VideoSource
  send(): void
}

interface Stage {
  readonly worker: types.Worker
  readonly router: types.Router
  readonly cameras: readonly Camera[]
  close(): void
}

/** Opens cameras in a mediasoup process of their own. */
const openStage = async (publishers: number): Promise<Stage> => {
  const worker = await createWorker({ logLevel: 'error' })
  const router = await new Routers(worker).video(ownVideo)
  const socket = createSocket('udp4')
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  const cameras: Camera[] = []
  for (let index = 0; index < publishers; index++) {
    const transport = await router.createPlainTransport({ listenIp: '127.0.0.1', comedia: true })
    const ssrc = index + 1
    const { payloadType } = ownVideo
    const producer = await transport.produce({
      kind: 'video',
      rtpParameters: {
        codecs: [{ mimeType: 'video/VP8', payloadType, clockRate: 90_000 }],
        encodings: [{ ssrc }],
      },
    })
    const packets = new Vp8Source({ ssrc, payloadType })
    const text = 'x'.repeat(packetBytes - 30)
    cameras.push({
      source: { producer, line: { router, worker: undefined as never }, format: ownVideo },
      send: () => {
        for (const packet of packets.frame({ isKey: true, packets: packetsPerFrame, text }))
          socket.send(packet, transport.tuple.localPort, '127.0.0.1')
      },
    })
  }
  return {
    worker,
    router,
    cameras,
    close: () => {
      socket.close()
      worker.close()
    },
  }
}

/** Opens a viewer's transport, which encrypts as that of a browser does. */
const openViewer = async (router: types.Router, sinkPort: number): Promise<types.PlainTransport> => {
  const transport = await router.createPlainTransport({
    listenIp: '127.0.0.1',
    rtcpMux: true,
    enableSrtp: true,
    srtpCryptoSuite: 'AEAD_AES_256_GCM',
  })
  const { cryptoSuite, keyBase64 } = transport.srtpParameters!
  await transport.connect({ ip: '127.0.0.1', port: sinkPort, srtpParameters: { cryptoSuite, keyBase64 } })
  return transport
}

/** Lets a viewer receive all cameras. */
type Watch = (transport: types.PlainTransport, cameras: readonly Camera[]) => Promise<unknown>

const watchBare: Watch = (transport, cameras) =>
  Promise.all(
    cameras.map(({ source: { producer } }) =>
      transport.consume({ producerId: producer.id, rtpCapabilities: consumerCapabilities(ownVideo) }),
    ),
  )

const watchLines: Watch = async (transport, cameras) => {
  const opened = Promise.withResolvers<void>()
  const sources = new Map(cameras.map(({ source }) => [source.producer.id, source]))
  const session = {
    line: { router: cameras[0]!.source.line.router, transport },
    consume: (_mid: string, options: types.ConsumerOptions) =>
      transport.consume({ ...options, rtpCapabilities: consumerCapabilities(ownVideo) }),
    onAccepted: (use: (mids: readonly string[]) => void) => use(cameras.map((_, index) => String(index))),
  } as unknown as TracksSession
  const lines = new TrackLines({
    session,
    pipes: new SharedPipes(),
    clock: systemClock,
    sourceOf: (id) => sources.get(id),
    onChange: (uses) => {
      if (uses.filter(({ isLive }) => isLive).length === cameras.length) opened.resolve()
    },
    onFault: (fault) => opened.reject(fault),
    onClosed: () => {},
  })
  lines.show([...sources.keys()].map((id) => ({ id, width: 320, priority: 100 })))
  await opened.promise
}

/** Sends all cameras in real time for `seconds`. */
const play = async (cameras: readonly Camera[], seconds: number): Promise<void> => {
  const began = performance.now()
  for (let frames = 0; performance.now() - began < seconds * 1000; ) {
    for (; frames < Math.floor((performance.now() - began) / frameMs); frames++)
      for (const camera of cameras) camera.send()
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

/** Returns the consumers per core of one arrangement, at the bit rate of the cameras. */
const measure = async (
  watch: Watch,
  publishers: number,
  viewers: number,
  seconds: number,
): Promise<number> => {
  const sink = createSocket('udp4')
  sink.bind(0, '127.0.0.1')
  await once(sink, 'listening')
  const stage = await openStage(publishers)
  try {
    const transports: types.PlainTransport[] = []
    for (let index = 0; index < viewers; index++) {
      const transport = await openViewer(stage.router, sink.address().port)
      transports.push(transport)
      await watch(transport, stage.cameras)
    }
    await play(stage.cameras, 2)
    const sent = async () => {
      let packets = 0
      for (const transport of transports)
        for (const stats of await transport.getStats()) packets += stats.rtpBytesSent / packetBytes
      return packets
    }
    const busyMs = async () => {
      const { ru_utime: user, ru_stime: system } = await stage.worker.getResourceUsage()
      return user + system
    }
    const before = [await sent(), await busyMs()] as const
    await play(stage.cameras, seconds)
    const packets = (await sent()) - before[0]
    const cores = ((await busyMs()) - before[1]) / (seconds * 1000)
    const consumers = packets / (seconds * packetsPerFrame * 30)
    return consumers / cores
  } finally {
    stage.close()
    sink.close()
  }
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN

/** Measures consumers per core, in turns with bare mediasoup. */
export const sfu = async (rounds = 5, publishers = 10, viewers = 50, seconds = 10): Promise<void> => {
  const bare: number[] = []
  const lines: number[] = []
  for (let round = 0; round < rounds; round++) {
    bare.push(await measure(watchBare, publishers, viewers, seconds))
    lines.push(await measure(watchLines, publishers, viewers, seconds))
  }
  const text = (values: readonly number[]) =>
    `${Math.round(median(values))} consumers per core (${values.map(Math.round).join(', ')})`
  console.log(`${publishers} cameras of 1 Mbit/s, ${viewers} viewers, medians of ${rounds}`)
  console.log(`bare mediasoup: ${text(bare)}`)
  console.log(`lines: ${text(lines)}, ${(median(lines) / median(bare)).toFixed(2)} of bare`)
}
