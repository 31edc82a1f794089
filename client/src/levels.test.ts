import { afterEach, describe, expect, it, vi } from 'vitest'
import { LevelWatch } from './level-watch.ts'
import { levels, meterOf } from './levels.ts'
import { FakeClock, FakeStream, FakeTrack } from './testing/fakes.ts'

afterEach(() => vi.unstubAllGlobals())

const streamOf = (...tracks: FakeTrack[]) => new FakeStream(tracks) as unknown as MediaStream

describe('a stream that cannot be measured', () => {
  it('leaves no audio context behind', () => {
    const close = vi.fn(async () => {})
    class Context {
      readonly state = 'running'
      readonly close = close
      createMediaStreamSource() {
        throw new DOMException('another sample rate', 'NotSupportedError')
      }
    }
    vi.stubGlobal('AudioContext', Context)
    expect(() => levels(streamOf(new FakeTrack('audio')))).toThrow('another sample rate')
    expect(close).toHaveBeenCalledOnce()
  })

  it('is tried once, and counts as silent', () => {
    const clock = new FakeClock()
    const create = vi.fn(() => {
      throw new DOMException('another sample rate', 'NotSupportedError')
    })
    const events = vi.fn()
    const remote = streamOf(new FakeTrack('audio'))
    const watch = new LevelWatch(clock, create, { local: undefined, remote }, events)
    watch.start()
    clock.advance(300)
    expect(events).toHaveBeenCalledTimes(3)
    expect(events).toHaveBeenLastCalledWith({ local: 0, remote: 0 })
    expect(create).toHaveBeenCalledOnce()
    watch.stop()
    expect(clock.running).toBe(0)
  })
})

it('a displayed level rises linearly with decibels', () => {
  expect([0, 0.001, 1, 2].map(meterOf)).toEqual([0, 0, 1, 1])
  expect(meterOf(10 ** (-30 / 20))).toBeCloseTo(0.5)
})
