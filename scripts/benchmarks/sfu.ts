/** CPU of separate cameras: lines of the gateway, compared with bare mediasoup and with Janus. */

import { createWorker, type types } from 'mediasoup'
import { systemClock } from '../../media/clock.ts'
import { Routers } from '../../media/webrtc/routers.ts'
import { ownVideo } from '../../media/webrtc/sdp/video-format.ts'
import { SharedPipes } from '../../media/webrtc/tracks/shared-pipes.ts'
import { TrackLines } from '../../media/webrtc/tracks/track-lines.ts'
import type { TracksSession } from '../../media/webrtc/tracks/tracks-session.ts'
import type { VideoSource } from '../../media/webrtc/video/incoming-video.ts'
import { consumerCapabilities } from '../../media/webrtc/video-parameters.ts'
import { medianOf } from '../../test/support/median.ts'
import { cpuSeconds } from './processes.ts'
import { hasJanus, Janus } from './sfu-janus.ts'
import { Camera, cameraBytes, Load, play } from './sfu-load.ts'

/** A server with cameras and viewers. */
interface Contender {
  readonly pid: number
  readonly cameras: readonly Camera[]
  stop(): Promise<void>
}

/** Lets a viewer receive all cameras. */
type Watch = (
  transport: types.PlainTransport,
  producers: readonly types.Producer[],
  router: types.Router,
) => Promise<unknown>

const watchBare: Watch = (transport, producers) =>
  Promise.all(
    producers.map((producer) =>
      transport.consume({ producerId: producer.id, rtpCapabilities: consumerCapabilities(ownVideo) }),
    ),
  )

const watchLines: Watch = async (transport, producers, router) => {
  const opened = Promise.withResolvers<void>()
  const line: VideoSource['line'] = { router, worker: undefined as never }
  const sources = new Map(
    producers.map((producer): [string, VideoSource] => [producer.id, { producer, line, format: ownVideo }]),
  )
  const session = {
    line: { router, transport },
    consume: (_mid: string, options: types.ConsumerOptions) =>
      transport.consume({ ...options, rtpCapabilities: consumerCapabilities(ownVideo) }),
    onAccepted: (use: (mids: readonly string[]) => void) => use(producers.map((_, index) => String(index))),
  } as unknown as TracksSession
  const lines = new TrackLines({
    session,
    pipes: new SharedPipes(),
    clock: systemClock,
    sourceOf: (id) => sources.get(id),
    onChange: (uses) => {
      if (uses.filter(({ isLive }) => isLive).length === producers.length) opened.resolve()
    },
    onFault: (fault) => opened.reject(fault),
    onClosed: () => {},
  })
  lines.show([...sources.keys()].map((id) => ({ id, width: 320, priority: 100 })))
  await opened.promise
}

/** Starts a contender with the viewers of this load. */
type Start = (load: Load, publishers: number, viewers: number) => Promise<Contender>

/** Opens a camera that sends to a router. */
const openCamera = async (load: Load, router: types.Router, ssrc: number) => {
  const transport = await router.createPlainTransport({ listenIp: '127.0.0.1', comedia: true })
  const { payloadType } = ownVideo
  const producer = await transport.produce({
    kind: 'video',
    rtpParameters: {
      codecs: [{ mimeType: 'video/VP8', payloadType, clockRate: 90_000 }],
      encodings: [{ ssrc }],
    },
  })
  return { producer, camera: new Camera(load.socket, transport.tuple.localPort, ssrc) }
}

const startMediasoup =
  (watch: Watch): Start =>
  async (load, publishers, viewers) => {
    const worker = await createWorker({ logLevel: 'error' })
    const router = await new Routers(worker).video(ownVideo)
    const opened = await Promise.all(
      Array.from({ length: publishers }, (_, index) => openCamera(load, router, index + 1)),
    )
    const producers = opened.map(({ producer }) => producer)
    for (let index = 0; index < viewers; index++)
      await watch(await load.openViewer(router), producers, router)
    const cameras = opened.map(({ camera }) => camera)
    return { pid: worker.pid, cameras, stop: async () => worker.close() }
  }

const startJanus: Start = async (load, publishers, viewers) => {
  const janus = await Janus.start(publishers)
  const feeds = Array.from({ length: publishers }, (_, index) => index + 1)
  const cameras: Camera[] = []
  for (const feed of feeds) cameras.push(await janus.openCamera(load, feed))
  for (let index = 0; index < viewers; index++) await janus.subscribe(load, feeds)
  return { pid: janus.pid, cameras, stop: () => janus.stop() }
}

/** Figures of a contender: consumers per core at the full bit rate, and the share of packets that arrived. */
interface Figures {
  readonly perCore: number
  readonly arrived: number
}

const measure = async (
  start: Start,
  publishers: number,
  viewers: number,
  seconds: number,
): Promise<Figures> => {
  const load = await Load.start()
  const { pid, cameras, stop } = await start(load, publishers, viewers)
  try {
    await play(cameras, 2)
    const bytes = await load.received()
    const busy = cpuSeconds([pid])
    await play(cameras, seconds)
    const consumers = ((await load.received()) - bytes) / (seconds * cameraBytes)
    return {
      perCore: consumers / ((cpuSeconds([pid]) - busy) / seconds),
      arrived: consumers / (publishers * viewers),
    }
  } finally {
    await stop()
    load.close()
  }
}

/** Measures consumers per core, in turns: lines, bare mediasoup, and Janus if it is installed. */
export const sfu = async (rounds = 5, publishers = 10, viewers = 50, seconds = 10): Promise<void> => {
  const starts = new Map<string, Start>([
    ['bare mediasoup', startMediasoup(watchBare)],
    ['lines', startMediasoup(watchLines)],
  ])
  if (hasJanus()) starts.set('Janus', startJanus)
  else console.log('Janus is not installed and is left out: apt-get install -y janus')
  const all = new Map([...starts.keys()].map((name) => [name, [] as Figures[]]))
  for (let round = 0; round < rounds; round++)
    for (const [name, start] of starts)
      all.get(name)!.push(await measure(start, publishers, viewers, seconds))
  console.log(`${publishers} cameras of 1 Mbit/s, ${viewers} viewers, medians of ${rounds}`)
  const perCore = (name: string) => medianOf(all.get(name)!.map((figures) => figures.perCore))
  for (const [name, figures] of all)
    console.log(
      `${name.padEnd(15)} ${Math.round(perCore(name))} consumers per core ` +
        `(${figures.map((each) => Math.round(each.perCore)).join(', ')}), ` +
        `lines have ${(perCore('lines') / perCore(name)).toFixed(2)} of it; ` +
        `${(100 * Math.min(...figures.map(({ arrived }) => arrived))).toFixed(1)} % or more arrived`,
    )
}
