import { beforeEach, describe, expect, it } from 'vitest'
import { TestClock } from '../../edge/testing/test-clock.ts'
import { ownVideo } from '../sdp/video-format.ts'
import type { VideoSource } from '../video/incoming-video.ts'
import { type OpenInput, openComposerInput } from './composer-input.ts'

const settle = () => new Promise(setImmediate)

/** Router whose transports fail a number of times. */
class FakeRouter {
  closed = false
  failures = 0
  opened = 0
  readonly open = new Set<object>()
  readonly log: string[] = []

  async createPlainTransport() {
    this.opened++
    if (this.failures > 0) {
      this.failures--
      throw new Error('no port')
    }
    const transport = {
      tuple: { localPort: 40_000 },
      close: () => void this.open.delete(transport),
      consume: async ({ preferredLayers }: { preferredLayers: { spatialLayer: number } }) => {
        this.log.push(`layer ${preferredLayers.spatialLayer}`)
        return {
          rtpParameters: { encodings: [{ ssrc: 7 }], codecs: [{ payloadType: 96 }] },
          resume: async () => void this.log.push('resume'),
          setPreferredLayers: async ({ spatialLayer }: { spatialLayer: number }) =>
            void this.log.push(`layer ${spatialLayer}`),
        }
      },
      connect: async ({ port }: { port: number }) => void this.log.push(`connect ${port}`),
    }
    this.open.add(transport)
    return transport
  }
}

describe('the input of a composed picture', () => {
  let clock: TestClock
  let router: FakeRouter
  let faults: string[]
  const producer = {
    id: 'p',
    type: 'simulcast',
    closed: false,
    rtpParameters: { encodings: [{}, {}, {}] },
  }

  beforeEach(() => {
    clock = new TestClock()
    router = new FakeRouter()
    faults = []
    producer.closed = false
  })

  const start = (addSource = () => Promise.resolve({ port: 5000 })) =>
    openComposerInput({
      picture: { addSource },
      id: 'a',
      source: {
        producer,
        line: { router, worker: { relayPorts: { from: 1, to: 2 } } },
        format: ownVideo,
      } as unknown as VideoSource,
      width: 1280,
      clock,
      onFault: (fault) => faults.push(String((fault.cause as Error | undefined)?.message ?? fault.message)),
    })

  it('sends the stream, in the size that suits the picture', async () => {
    const input = start()
    await settle()
    expect(router.log).toEqual(['layer 2', 'connect 5000', 'resume'])
    input.resize(320)
    input.resize(330)
    expect(router.log.at(-1)).toBe('layer 0')
    input.close()
    input.close()
    expect([router.open.size, clock.running, faults]).toEqual([0, 0, []])
  })

  it('opens again after a failure, later after each one, and reports the first alone', async () => {
    router.failures = 4
    const input = start()
    await settle()
    for (const ms of [500, 1000, 2000, 4000]) {
      const before = router.opened
      clock.advance(ms - 1)
      await settle()
      expect(router.opened).toBe(before)
      clock.advance(1)
      await settle()
      expect(router.opened).toBe(before + 1)
    }
    expect([faults, router.log.at(-1), clock.running]).toEqual([['no port'], 'resume', 0])
    input.close()
    expect(router.open.size).toBe(0)
  })

  it('frees what an attempt has opened before it failed', async () => {
    let isRefused = true
    const input = start(() =>
      isRefused ? Promise.reject(new Error('refused')) : Promise.resolve({ port: 5000 }),
    )
    await settle()
    expect([router.open.size, faults]).toEqual([0, ['refused']])
    isRefused = false
    // The next attempt has the latest size.
    input.resize(320)
    clock.advance(500)
    await settle()
    expect([router.open.size, router.log.slice(1)]).toEqual([1, ['layer 0', 'connect 5000', 'resume']])
    input.close()
  })

  /** Reports no picture, and lets the input open again if `ms` pass. */
  const stall = async (input: OpenInput, ms: number) => {
    input.reopen()
    clock.advance(ms)
    await settle()
  }

  it('opens again without a picture, later each time, and reports the first time alone', async () => {
    const input = start()
    await settle()
    await stall(input, 0)
    expect([router.opened, router.open.size]).toEqual([2, 1])
    for (const [at, ms] of [500, 1000, 2000].entries()) {
      await stall(input, ms - 1)
      // The stream flows on, and another report changes nothing.
      expect([router.opened, router.open.size]).toEqual([at + 2, 1])
      await stall(input, 1)
      expect([router.opened, router.open.size]).toEqual([at + 3, 1])
    }
    expect(faults).toEqual(['video of a: its packets give no picture'])
    input.close()
    expect([router.open.size, clock.running]).toEqual([0, 0])
  })

  it('stays open if a picture comes before it opens again, and begins a new row then', async () => {
    const input = start()
    await settle()
    await stall(input, 0)
    await stall(input, 100)
    input.pictured()
    expect(clock.running).toBe(0)
    await stall(input, 0)
    expect([router.opened, router.open.size, faults.length]).toEqual([3, 1, 2])
    await stall(input, 100)
    input.close()
    expect([router.open.size, clock.running]).toEqual([0, 0])
  })

  it('does not open again without a picture while it waits after a failure', async () => {
    const input = start()
    await settle()
    router.failures = 1
    await stall(input, 0)
    expect([router.opened, router.open.size, faults]).toEqual([
      2,
      0,
      ['video of a: its packets give no picture', 'no port'],
    ])
    await stall(input, 499)
    expect(router.opened).toBe(2)
    await stall(input, 1)
    expect([router.opened, router.open.size, clock.running]).toEqual([3, 1, 0])
    input.close()
    await stall(input, 0)
    expect([router.opened, router.open.size, clock.running]).toEqual([3, 0, 0])
  })

  it.each(['input', 'stream', 'worker'])('does not open again after the end of the %s', async (ended) => {
    router.failures = 10
    const input = start()
    await settle()
    if (ended === 'input') input.close()
    producer.closed = ended === 'stream'
    router.closed = ended === 'worker'
    clock.advance(60_000)
    await settle()
    expect([router.opened, clock.running]).toEqual([1, 0])
  })
})
