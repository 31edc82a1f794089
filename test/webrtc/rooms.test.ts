/** Pictures of rooms, with real mediasoup processes and synthetic packets. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { TestClock } from '../../media/edge/testing/test-clock.ts'
import { VideoRoom } from '../../media/webrtc/rooms/video-room.ts'
import { DirectBrowser, type DirectBrowserOptions, DirectWorker } from '../support/webrtc/direct-browser.ts'

const hosts: DirectWorker[] = []
let browsers: DirectBrowser[] = []
let clock: TestClock
let room: VideoRoom
let faults: Error[] = []
let before: number[] = []

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
  before = await counts()
  room = new VideoRoom({ clock, onFault: (fault) => faults.push(fault) })
})
afterEach(async () => {
  room.close()
  expect(clock.running).toBe(0)
  for (const { streams, faults } of browsers) {
    expect(faults).toEqual([])
    for (const { reader } of streams) reader.check()
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
