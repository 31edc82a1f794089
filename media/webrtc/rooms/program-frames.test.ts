/** Frames of one member, which its sender's reports place. */
import { beforeEach, expect, it } from 'vitest'
import { TestClock } from '../../edge/testing/test-clock.ts'
import { SenderClock, StreamClock } from '../../rooms/sender-clock.ts'
import { type Frame, Vp8Source } from '../../rooms/testing/vp8-source.ts'
import type { PacketListener, PacketSource } from './feed.ts'
import { ProgramFrames } from './program-frames.ts'

/** Camera whose frames arrive 150 ms after their capture. Its timestamps wrap soon. */
class Camera implements PacketSource {
  readonly source = new Vp8Source({ timestamp: 2 ** 32 - 20_000 })
  readonly clock = new StreamClock(new SenderClock(), 90_000)
  readonly #listeners = new Set<PacketListener>()
  followed = 0

  attach(listener: PacketListener): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  requestKeyFrame(): void {}

  followSender(): StreamClock {
    this.followed++
    return this.clock
  }

  send(frame: Frame): void {
    for (const packet of [...this.source.frame(frame), this.source.padding()])
      for (const listener of [...this.#listeners]) listener(packet)
  }

  /** Reports the capture of the latest frame, 150 ms before `now`. */
  report(now: number): void {
    this.clock.report(now, { ssrc: 1, senderMs: now, timestamp: (this.source.timestamp + 150 * 90) >>> 0 })
  }
}

let clock: TestClock
let camera: Camera
let began: number
/** Times of the frames, and their texts; those of the plain picture have none. */
let seen: [number, string][]
let frames: ProgramFrames
beforeEach(() => {
  clock = new TestClock()
  began = clock.now()
  camera = new Camera()
  seen = []
  frames = new ProgramFrames(
    clock,
    ({ at, data }) => {
      const text = Buffer.from(data).toString('latin1')
      seen.push([at - began, /^[PQ]\w*\/0$/.test(text) ? text.slice(0, -2) : ''])
    },
    'by sender',
  )
})

/** Sends frames, one in 40 ms. */
const send = (...texts: readonly string[]) => {
  for (const text of texts) {
    camera.send({ isKey: text === 'key', text, advance: 3600 })
    clock.advance(40)
  }
}

it('places frames by their capture, also those before the first report, and the plain picture by the clock', () => {
  frames.show(camera)
  expect(camera.followed).toBeGreaterThan(0)
  clock.advance(1000)
  send('key', 'a', 'b')
  expect(seen).toEqual([])
  // A report arrives 40 ms after the latest frame.
  camera.report(clock.now() - 40)
  send('c')
  frames.show(undefined)
  clock.advance(1000)
  frames.show(camera)
  // The camera has gone on meanwhile.
  camera.source.timestamp += 1000 * 90
  send('key', 'd')
  expect(seen).toEqual([
    [850, 'Pkey'],
    [890, 'Qa'],
    [930, 'Qb'],
    [970, 'Qc'],
    [1160, ''],
    [2000, ''],
    [2010, 'Pkey'],
    [2050, 'Qd'],
  ])
  frames.close()
  expect(clock.running).toBe(0)
})

it('reports on request what waits for a report', () => {
  frames.show(camera)
  clock.advance(1000)
  send('key', 'a')
  frames.flush()
  expect(seen).toEqual([
    [1000, 'Pkey'],
    [1040, 'Qa'],
  ])
  frames.close()
})
