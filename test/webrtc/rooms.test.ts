/** Pictures of rooms, with real mediasoup processes and synthetic packets. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { TestClock } from '../../media/edge/testing/test-clock.ts'
import { Vp8Source } from '../../media/rooms/testing/vp8-source.ts'
import type { ComposedPicture, Rendition } from '../../media/types.ts'
import { ComposingAdmission } from '../../media/webrtc/rooms/composing-admission.ts'
import { VideoRoom } from '../../media/webrtc/rooms/video-room.ts'
import { until } from '../support/until.ts'
import { DirectBrowser, type DirectBrowserOptions, DirectWorker } from '../support/webrtc/direct-browser.ts'

const hosts: DirectWorker[] = []
let browsers: DirectBrowser[] = []
let clock: TestClock
let room: VideoRoom
let faults: Error[] = []
let before: number[] = []
/** False if viewers change layers: mediasoup compares the reports of both with its own clock. */
let hasOneLayer: boolean

/** Formats with a router in each process; routers stay. */
const formats = [{}, { payloadType: 120 }, { name: 'H264', payloadType: 102 }] as const

beforeAll(async () => {
  hosts.push(await DirectWorker.start(), await DirectWorker.start())
  for (const host of hosts)
    for (const format of formats) await (await DirectBrowser.open('', host, { format })).close()
})
afterAll(() => {
  for (const { worker } of hosts) worker.close()
})

const counts = () => Promise.all(hosts.map((host) => host.objects()))

beforeEach(async () => {
  clock = new TestClock()
  faults = []
  browsers = []
  hasOneLayer = true
  before = await counts()
  room = new VideoRoom({ clock, onFault: (fault) => faults.push(fault) })
})
afterEach(async () => {
  room.close()
  expect(clock.running).toBe(0)
  for (const { streams, faults } of browsers) {
    expect(faults).toEqual([])
    if (hasOneLayer) for (const { reader } of streams) reader.check()
  }
  for (const browser of browsers) await browser.close()
  expect(await counts()).toEqual(before)
})

const first = () => hosts[0]!

/** Opens a browser that sends and receives, and adds it to the room. */
const join = async (name: string, { host = first(), ...options }: Joining = {}): Promise<DirectBrowser> => {
  const browser = await DirectBrowser.open(name, host, options)
  browsers.push(browser)
  await browser.turn(options.direction ?? 'sendrecv')
  room.add(name, browser.video)
  return browser
}

type Joining = DirectBrowserOptions & {
  readonly host?: DirectWorker
  readonly direction?: 'sendrecv' | 'recvonly'
}

/** Sends a frame of each camera, and lets all processes forward it. */
const tick = async (ms = 33): Promise<void> => {
  for (const browser of browsers) browser.send({ advance: ms * 90 })
  clock.advance(ms)
  for (const host of hosts) await host.settle()
}

/** Lets the cameras send until the condition holds. */
const playUntil = async (condition: () => boolean, what: string): Promise<void> => {
  for (let frames = 0; !condition(); frames++) {
    if (frames > 500)
      throw new Error(
        `${what}: not within 500 frames, but ${JSON.stringify(seen())}, ${browsers.map((b) => b.requests)}`,
      )
    await tick()
  }
}

const seen = () => Object.fromEntries(browsers.map((browser) => [browser.name, browser.seen]))

/** Lets the cameras send until the browsers see this. */
const playUntilSeen = async (wanted: Readonly<Record<string, string>>): Promise<void> => {
  await playUntil(
    () => Object.entries(wanted).every(([name, text]) => seen()[name] === text),
    JSON.stringify(wanted),
  )
}

describe('the picture of a room', () => {
  it('is `main` for all, and `other` for the viewer that is `main`, in one stream over many changes', async () => {
    const names = ['a', 'b', 'c']
    for (const name of names) await join(name)
    for (let i = 0; i < 21; i++) {
      const main = names[i % 3]!
      const other = names[(i + 1) % 3]!
      room.show({ kind: 'speaker', main, other })
      await playUntilSeen(Object.fromEntries(names.map((name) => [name, name === main ? other : main])))
    }
    expect(browsers.map(({ streams }) => streams.length)).toEqual([1, 1, 1])
    expect(faults).toEqual([])
  })
})

describe('a viewer', () => {
  it('that is alone sees itself', async () => {
    await join('a')
    room.show({ kind: 'speaker', main: 'a' })
    await playUntilSeen({ a: 'a' })
  })

  it('without a camera shares the stream of others, also with another payload type or process', async () => {
    await join('a')
    await join('b', { direction: 'recvonly' })
    await join('c', { direction: 'recvonly', format: { payloadType: 120 } })
    await join('d', { direction: 'recvonly', host: hosts[1]! })
    await join('e', { host: hosts[1]! })
    room.show({ kind: 'speaker', main: 'a', other: 'e' })
    await playUntilSeen({ a: 'e', b: 'a', c: 'a', d: 'a', e: 'a' })
    room.show({ kind: 'speaker', main: 'e', other: 'a' })
    await playUntilSeen({ a: 'e', b: 'e', c: 'e', d: 'e', e: 'a' })
    expect(browsers.map(({ streams }) => streams.length)).toEqual([1, 1, 1, 1, 1])
  })

  it('sees a plain picture at once if nothing is shown, and again when its stream needs a key frame', async () => {
    const viewer = await join('a', { direction: 'recvonly' })
    await playUntilSeen({ a: 'still' })
    const { consumer, reader } = viewer.streams[0]!
    const count = () => reader.inOrder.length
    expect(count()).toBe(1)
    clock.advance(600)
    await consumer.requestKeyFrame()
    await playUntil(() => count() > 1, 'a plain picture for the request')
    clock.advance(2000)
    await playUntil(() => count() > 2, 'a plain picture after 2 s')
  })

  it('sees what it saw before the room when it leaves, and its camera is limited only in the room', async () => {
    const a = await join('a')
    const b = await DirectBrowser.open('b', first())
    browsers.push(b)
    await b.turn('sendrecv')
    const unwatch = a.video.watch(b.video, (fault) => faults.push(fault))
    await playUntilSeen({ a: 'b' })
    room.add('a', a.video)
    room.show({ kind: 'speaker', main: 'a' })
    await playUntilSeen({ a: 'a' })
    room.remove('a')
    await playUntilSeen({ a: 'b' })
    unwatch()
    expect(a.limits.slice(-2)).toEqual([1_000_000, 0])
  })

  it('gets a stream of its own when it becomes `main` in a room of many cameras', async () => {
    const names = Array.from({ length: 10 }, (_, index) => `m${index}`)
    for (const name of names) await join(name)
    room.show({ kind: 'speaker', main: 'm0' })
    await playUntilSeen(Object.fromEntries(names.map((name) => [name, 'm0'])))
    room.show({ kind: 'speaker', main: 'm9', other: 'm0' })
    await playUntilSeen({ ...Object.fromEntries(names.map((name) => [name, 'm9'])), m9: 'm0' })
    const streams = browsers.map((browser) => browser.streams.length)
    // The new one, and the one whose own program was closed for it.
    expect(streams.filter((count) => count === 2)).toHaveLength(2)
    expect(streams[9]).toBe(2)
  })
})

/** Composed picture without a process: its renditions are synthetic streams with their names as texts. */
class FakeComposer implements ComposedPicture {
  readonly ssrcs = { low: 1, high: 2 }
  readonly payloadType = 96
  readonly cname = 'c'
  readonly load = { picture: 0, process: 0 }
  readonly onPictured = () => {}
  readonly onStalled = () => {}
  readonly #sources = { low: new Vp8Source({ ssrc: 1 }), high: new Vp8Source({ ssrc: 2, sequence: 9000 }) }
  readonly #keys = new Set<Rendition>(['low', 'high'])
  isLowEnabled = false
  #listener: Parameters<ComposedPicture['onPacket']>[0] = () => {}

  addSource = () => Promise.resolve({ port: 1 })
  removeSource = () => {}
  draw = () => {}
  onLost = () => {}
  close = () => Promise.resolve()

  enableLow(isEnabled: boolean): void {
    this.isLowEnabled = isEnabled
  }

  requestKeyFrame(rendition: Rendition = 'high'): void {
    this.#keys.add(rendition)
  }

  onPacket(listener: Parameters<ComposedPicture['onPacket']>[0]): void {
    this.#listener = listener
  }

  send(): void {
    for (const rendition of this.isLowEnabled ? (['low', 'high'] as const) : (['high'] as const)) {
      const isKey = this.#keys.delete(rendition)
      for (const packet of this.#sources[rendition].frame({ isKey, packets: 2, text: rendition }))
        this.#listener(rendition, packet, 'rtp')
    }
  }
}

describe('a viewer with loss', () => {
  it('has the low rendition of a composed picture, at first and when it loses packets, in one stream', async () => {
    hasOneLayer = false
    const picture = new FakeComposer()
    const composers = { load: 0, open: () => Promise.resolve(picture), close: () => Promise.resolve() }
    room.close()
    const admission = new ComposingAdmission({ load: () => 0, clock })
    room = new VideoRoom({ clock, composing: { composers, admission } })
    const a = await join('a')
    await join('b', { direction: 'recvonly' })
    const layer = { id: 'a', x: 0, y: 0, width: 100, height: 100, z: 0, isVisible: true }
    room.show({ kind: 'composed', layers: [layer] })
    const play = (wanted: Readonly<Record<string, string>>) =>
      playUntil(() => {
        picture.send()
        return Object.entries(wanted).every(([name, text]) => seen()[name] === text)
      }, JSON.stringify(wanted))
    // One viewer may change to the high rendition before the other has a picture.
    const seenLow = new Set<string>()
    await playUntil(() => {
      picture.send()
      for (const [name, text] of Object.entries(seen())) if (text === 'low') seenLow.add(name)
      return seenLow.size === 2
    }, 'the low rendition at both')
    await play({ a: 'high', b: 'high' })
    await playUntil(() => !picture.isLowEnabled, 'the end of the low rendition')
    for (let i = 0; i < 20; i++) {
      picture.send()
      await tick()
    }
    for (let i = 0; i < 4; i++) a.reportLoss()
    await play({ a: 'low', b: 'high' })
    expect(picture.isLowEnabled).toBe(true)
    await play({ a: 'high', b: 'high' })
    expect(browsers.map(({ streams }) => streams.length)).toEqual([1, 1])
    room.close()
    clock.advance(1000)
  })
})

describe('a source', () => {
  it('without a key frame leaves the present one for 1.5 s, then a plain picture, until its key frame', async () => {
    const a = await join('a')
    const b = await join('b')
    await join('c', { direction: 'recvonly' })
    room.show({ kind: 'speaker', main: 'a' })
    await playUntilSeen({ a: 'a', b: 'a', c: 'a' })
    b.isAnswering = false
    room.show({ kind: 'speaker', main: 'b', other: 'a' })
    for (let ms = 0; ms < 1400; ms += 33) {
      await tick()
      expect(seen()).toEqual({ a: 'a', b: 'a', c: 'a' })
    }
    await playUntilSeen({ a: 'still', c: 'still' })
    expect(a.seen).toBe('still')
    b.isAnswering = true
    await playUntilSeen({ a: 'b', c: 'b' })
  })

  it('is asked for one key frame in 500 ms, however many viewers need one', async () => {
    const a = await join('a')
    for (const name of ['b', 'c', 'd']) await join(name, { direction: 'recvonly' })
    room.show({ kind: 'speaker', main: 'a' })
    await playUntilSeen({ a: 'a', b: 'a', c: 'a', d: 'a' })
    // Earlier requests are answered, and no further one has to wait for them.
    for (let i = 0; i < 40; i++) await tick()
    const before = a.requests
    const start = clock.now()
    for (let i = 0; i < 10; i++) {
      for (const { streams } of browsers) await streams[0]!.consumer.requestKeyFrame()
      await tick()
    }
    expect(a.requests).toBe(before + 1)
    await playUntil(() => a.requests > before + 1, 'the request that had to wait')
    expect(clock.now() - start).toBeGreaterThanOrEqual(500)
  })

  it('may stop, start again, and change its stream or its session', async () => {
    const a = await join('a')
    await join('b', { direction: 'recvonly' })
    room.show({ kind: 'speaker', main: 'a' })
    await playUntilSeen({ b: 'a' })
    await a.turn('recvonly')
    await playUntilSeen({ a: 'still', b: 'still' })
    await a.turn('sendrecv')
    await playUntilSeen({ a: 'a', b: 'a' })
    const again = await DirectBrowser.open('new', first())
    browsers.push(again)
    await again.turn('sendrecv')
    room.add('a', again.video)
    await a.close()
    await playUntilSeen({ new: 'new', b: 'new' })
    room.remove('a')
    await playUntilSeen({ b: 'still' })
  })

  it('that is a screen is seen by all, and its rate is not limited', async () => {
    await join('a')
    await join('b')
    const screen = await DirectBrowser.open('screen', first())
    browsers.push(screen)
    await screen.turn('sendonly')
    room.addScreen('s', screen.session)
    room.show({ kind: 'speaker', main: 's', other: 'a' })
    await playUntilSeen({ a: 'screen', b: 'screen' })
    expect(screen.limits).toEqual([])
    room.remove('s')
    await playUntilSeen({ a: 'still', b: 'still' })
  })

  it('with H.264 is reported once and not shown, and the others go on', async () => {
    const format = { name: 'H264', payloadType: 102 } as const
    const a = await join('a', { format })
    await join('b')
    room.show({ kind: 'speaker', main: 'a', other: 'b' })
    await playUntilSeen({ b: 'still' })
    room.show({ kind: 'speaker', main: 'b' })
    await playUntilSeen({ b: 'b' })
    expect(faults).toEqual([expect.objectContaining({ code: 'no_common_codec' })])
    expect(a.streams).toEqual([])
  })
})

describe('a room', () => {
  it('holds nothing without viewers, and nothing after it was closed while it opened', async () => {
    const a = await join('a')
    await a.turn('sendonly')
    for (let i = 0; i < 5; i++) await tick()
    const open = await counts()
    // No more than the transport and the stream of the camera.
    expect(open[0]).toBe(before[0]! + 2)
    room.show({ kind: 'speaker', main: 'a' })
    for (let i = 0; i < 5; i++) await tick()
    expect(await counts()).toEqual(open)
    await a.turn('sendrecv')
    room.close()
    room.close()
    for (let i = 0; i < 5; i++) await tick()
    expect(await counts()).toEqual(open)
  })

  it('goes on for the members in other processes when one dies', async () => {
    const host = await DirectWorker.start()
    const a = await join('a', { host })
    await join('b')
    await join('c')
    room.show({ kind: 'speaker', main: 'a', other: 'b' })
    await playUntilSeen({ a: 'b', b: 'a', c: 'a' })
    const died = new Promise((resolve) => host.worker.once('died', resolve))
    process.kill(host.worker.pid, 'SIGKILL')
    await died
    await a.session.close()
    await playUntilSeen({ b: 'still', c: 'still' })
    room.show({ kind: 'speaker', main: 'b', other: 'c' })
    await playUntilSeen({ b: 'c', c: 'b' })
    expect(faults).toEqual([])
  })
})

describe('a camera', () => {
  it('is asked for a key frame at most every 350 ms, however many viewers ask', async () => {
    const camera = await DirectBrowser.open('a', first(), { hasSpacing: true })
    browsers.push(camera)
    await camera.turn('sendonly')
    const { producer, line } = camera.video.camera.current!
    const { rtpCapabilities } = line.router
    const transport = await line.router.createDirectTransport()
    const began = performance.now()
    const viewers = await Promise.all(
      [1, 2, 3].map(() => transport.consume({ producerId: producer.id, rtpCapabilities })),
    )
    let asked = 0
    const ask = async () => {
      camera.send({ advance: 1800 })
      for (const viewer of viewers) await viewer.requestKeyFrame()
      asked += viewers.length
      return camera.requests
    }
    const requests = await until(
      'the camera is asked three times, and the viewers ask more often',
      ask,
      // The answers of the camera would otherwise permit a request each time.
      (count) => count >= 3 && asked > count * 3,
    )
    const most = 1 + (performance.now() - began) / 350
    expect(requests).toBeLessThanOrEqual(most)
    transport.close()
  })
})
