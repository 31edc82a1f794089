import { EventEmitter } from 'node:events'
import { beforeEach, describe, expect, it } from 'vitest'
import { TestClock } from '../../edge/testing/test-clock.ts'
import type { TrackLineUse } from '../../types.ts'
import type { VideoSource } from '../video/incoming-video.ts'
import { SharedPipes } from './shared-pipes.ts'
import { TrackLines } from './track-lines.ts'
import type { TracksSession } from './tracks-session.ts'

/** Consumer that records its commands. */
class FakeConsumer extends EventEmitter {
  readonly mid: string
  readonly producerId: string
  closed = false
  paused = false
  priority = 1
  currentLayers: { spatialLayer: number } | undefined
  keyFrames = 0

  constructor(mid: string, producerId: string, layer: number) {
    super()
    this.mid = mid
    this.producerId = producerId
    this.currentLayers = { spatialLayer: layer }
  }

  async pause(): Promise<void> {
    this.paused = true
  }

  async resume(): Promise<void> {
    this.paused = false
  }

  async setPriority(priority: number): Promise<void> {
    this.priority = priority
  }

  async setPreferredLayers({ spatialLayer }: { spatialLayer: number }): Promise<void> {
    this.currentLayers = { spatialLayer }
    this.emit('layerschange')
  }

  async requestKeyFrame(): Promise<void> {
    this.keyFrames++
  }

  close(): void {
    this.closed = true
  }
}

const router = {}
const settle = async () => {
  for (let i = 0; i < 30; i++) await Promise.resolve()
}

describe('the lines of a viewer', () => {
  let clock: TestClock
  let consumers: FakeConsumer[]
  let sources: Map<string, VideoSource>
  let reports: (readonly TrackLineUse[])[]
  let faults: Error[]
  let failure: Error | undefined
  let accept: (mids: readonly string[]) => void
  let lines: TrackLines

  beforeEach(() => {
    clock = new TestClock()
    consumers = []
    reports = []
    faults = []
    failure = undefined
    sources = new Map(['a', 'b', 'c'].map((id) => [id, camera(id)]))
    const session = {
      line: { router, transport: { closed: false } },
      consume: async (
        mid: string,
        options: { producerId: string; preferredLayers: { spatialLayer: number } },
      ) => {
        if (failure) throw failure
        const consumer = new FakeConsumer(mid, options.producerId, options.preferredLayers.spatialLayer)
        consumers.push(consumer)
        return consumer
      },
      onAccepted: (use: typeof accept) => {
        accept = use
      },
    } as unknown as TracksSession
    lines = new TrackLines({
      session,
      pipes: new SharedPipes(),
      clock,
      sourceOf: (id) => sources.get(id),
      onChange: (uses) => reports.push(uses),
      onFault: (fault) => faults.push(fault),
      onClosed: () => {},
    })
  })

  const camera = (id: string, encodings = 3): VideoSource => {
    const type = encodings > 1 ? 'simulcast' : 'simple'
    const rtpParameters = { encodings: Array.from({ length: encodings }, () => ({})) }
    const producer = { id, type, closed: false, rtpParameters }
    return { producer, line: { router } } as unknown as VideoSource
  }
  const show = async (...wishes: [id: string, width?: number][]) => {
    lines.show(wishes.map(([id, width = 320]) => ({ id, width, priority: 100 })))
    await settle()
  }
  const open = () => consumers.filter(({ closed }) => !closed)
  const state = () =>
    open().map(({ mid, producerId, paused }) => `${mid} ${producerId}${paused ? ' paused' : ''}`)

  it('wait for the answer, and carry the first wishes', async () => {
    await show(['a'], ['b'], ['c'])
    expect(consumers).toEqual([])
    accept(['0', '1'])
    await settle()
    expect(state()).toEqual(['0 a', '1 b'])
    expect(open().map(({ priority }) => priority)).toEqual([100, 100])
    clock.advance(100)
    expect(reports.at(-1)).toEqual([
      { mid: '0', id: 'a', isLive: true, layer: 0 },
      { mid: '1', id: 'b', isLive: true, layer: 0 },
    ])
  })

  it('pause what is not wanted, resume it, and give its line away only if none is free', async () => {
    accept(['0', '1', '2'])
    await show(['a'], ['b'])
    await show(['b'])
    expect(state()).toEqual(['0 a paused', '1 b'])
    await show(['b'], ['c'])
    expect(state()).toEqual(['0 a paused', '1 b', '2 c'])
    await show(['a'], ['b'])
    expect(state()).toEqual(['0 a', '1 b', '2 c paused'])
    expect(consumers).toHaveLength(3)
    sources.set('d', camera('d'))
    await show(['a'], ['b'], ['d'])
    expect(state()).toEqual(['0 a', '1 b', '2 d'])
  })

  it('change the encoding with the width, at most every 500 ms', async () => {
    accept(['0'])
    await show(['a', 320])
    const layer = () => open()[0]!.currentLayers?.spatialLayer
    await show(['a', 1280])
    expect(layer()).toBe(2)
    await show(['a', 640])
    await show(['a', 320])
    await show(['a', 700])
    expect(layer()).toBe(2)
    clock.advance(499)
    expect(layer()).toBe(2)
    clock.advance(1)
    expect(layer()).toBe(1)
    expect(consumers).toHaveLength(1)
  })

  it('follow a source to its next stream, and free the line of one that has left', async () => {
    accept(['0', '1'])
    await show(['a'], ['b'])
    sources.set('a', camera('a2'))
    lines.update()
    await settle()
    expect(state()).toEqual(['1 b', '0 a2'])
    sources.delete('b')
    await show(['a'])
    expect(state()).toEqual(['0 a2'])
    clock.advance(100)
    expect(reports.at(-1)).toMatchObject([{ mid: '0', id: 'a' }])
  })

  it('restore a frozen stream by a key frame or a new one, within limits', async () => {
    accept(['0'])
    await show(['a'])
    for (let i = 0; i < 5; i++) lines.refresh('0', false)
    lines.refresh('7', true)
    expect(open()[0]!.keyFrames).toBe(1)
    clock.advance(500)
    expect(open()[0]!.keyFrames).toBe(2)
    for (let i = 0; i < 5; i++) lines.refresh('0', true)
    await settle()
    lines.refresh('0', true)
    await settle()
    expect([consumers.length, state()]).toEqual([2, ['0 a']])
    clock.advance(2000)
    lines.refresh('0', true)
    await settle()
    expect([consumers.length, state()]).toEqual([3, ['0 a']])
  })

  it('report a fault once, and try again with the next stream', async () => {
    accept(['0'])
    failure = new Error('no ports')
    await show(['a'])
    await show(['a', 640])
    expect(faults).toEqual([failure])
    failure = undefined
    sources.set('a', camera('a2'))
    lines.update()
    await settle()
    expect(state()).toEqual(['0 a2'])
  })

  it('end with their streams and timers', async () => {
    accept(['0'])
    await show(['a'])
    await show(['a', 1280])
    lines.refresh('0', false)
    lines.close()
    lines.close()
    await settle()
    expect([open(), clock.running]).toEqual([[], 0])
  })
})
