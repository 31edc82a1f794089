import { EventEmitter } from 'node:events'
import type { types } from 'mediasoup'
import { beforeEach, describe, expect, it } from 'vitest'
import { TestClock } from '../../edge/testing/test-clock.ts'
import { ViewerLayer } from './viewer-layer.ts'

/** Consumer of a program, whose viewer reports as the test says. */
class FakeConsumer extends EventEmitter {
  readonly observer = new EventEmitter()
  readonly calls: string[] = []
  currentLayers: types.ConsumerLayers = { spatialLayer: 0 }
  paused = false
  stat = { packetCount: 0, nackPacketCount: 0, fractionLost: 0, jitter: 90, roundTripTime: 20, bitrate: 0 }

  async enableTraceEvent(kinds: readonly string[]): Promise<void> {
    this.calls.push(`trace ${kinds.join()}`.trim())
  }

  async getStats() {
    this.calls.push('stats')
    // A further report of the viewer.
    this.stat.jitter = 181 - this.stat.jitter
    return [{ type: 'outbound-rtp', ...this.stat }]
  }

  async pause(): Promise<void> {
    this.calls.push('pause')
    this.paused = true
  }

  async resume(): Promise<void> {
    this.calls.push('resume')
    this.paused = false
  }

  async setPreferredLayers({ spatialLayer }: types.ConsumerLayers): Promise<void> {
    this.calls.push(`prefer ${spatialLayer}`)
  }
}

describe('the layer of a viewer', () => {
  let clock: TestClock
  let consumer: FakeConsumer
  let program: { hasLow: boolean; beforeLow: () => () => void; framesPerSecond: () => number }
  let trials: Set<ViewerLayer>
  let changes: number
  /** Number of transports between the gateway and the router that are open, and of the packets sent. */
  let links: number
  let sent: number
  let frame: (() => void) | undefined
  beforeEach(() => {
    clock = new TestClock()
    consumer = new FakeConsumer()
    trials = new Set()
    changes = 0
    links = 0
    sent = 0
    frame = undefined
    program = {
      hasLow: true,
      beforeLow: (listener?: () => void) => {
        frame = listener
        return () => {
          frame = undefined
        }
      },
      framesPerSecond: () => 15,
    }
  })

  const open = (layer: 'low' | 'high' = 'low'): ViewerLayer => {
    const router = {
      createDirectTransport: async () => {
        links++
        return {
          produce: async () => ({ id: 'p', closed: false, send: () => sent++ }),
          close: () => links--,
        }
      },
    }
    const transport = { consume: async () => ({ close: () => {} }) }
    const forwarding = { consumer, sink: { line: { router, transport } } }
    const deps = { forwarding, program, trials, clock, onChange: () => changes++ }
    return new ViewerLayer(deps as unknown as ConstructorParameters<typeof ViewerLayer>[0], layer)
  }
  const settle = async () => {
    for (let i = 0; i < 30; i++) await undefined
  }
  /** Lets time pass with 20 frames in a second. */
  const pass = async (ms: number, lossOf: () => number = () => 0) => {
    for (let at = 0; at < ms; at += 50) {
      consumer.stat.packetCount += 3
      consumer.stat.nackPacketCount += 3 * lossOf()
      frame?.()
      clock.advance(50)
      await settle()
    }
  }

  it('is the high one after a trial, and the low one is needed until the first key frame of it', async () => {
    const layer = open()
    await pass(3_500)
    expect([trials.size, links, sent > 0]).toEqual([1, 1, true])
    await pass(3_000)
    expect([layer.layer, layer.needsLow, trials.size, links]).toEqual(['high', true, 0, 0])
    expect(consumer.calls).toContain('prefer 1')
    const before = changes
    consumer.currentLayers = { spatialLayer: 1 }
    consumer.emit('layerschange')
    expect([layer.needsLow, changes]).toEqual([false, before + 1])
  })

  it('pauses before it becomes the low one', async () => {
    const layer = open()
    await pass(8_000)
    consumer.calls.length = 0
    await pass(2_000, () => 0.5)
    expect(layer.layer).toBe('low')
    const calls = consumer.calls.filter((call) => /pause|prefer|resume/.test(call))
    expect(calls.slice(0, 2)).toEqual(['pause', 'prefer 0'])
    await pass(2_000)
    expect([consumer.paused, layer.isPaused]).toEqual([false, false])
  })

  it('hears of missing packets once between two looks, however many reports there are', async () => {
    open()
    await pass(100)
    for (let i = 0; i < 1000; i++) consumer.emit('trace')
    await settle()
    expect(consumer.calls).toEqual(['trace nack', 'trace'])
    await pass(200)
    expect(consumer.calls).toEqual(['trace nack', 'trace', 'stats', 'trace nack'])
  })

  it('is tried beside at most seven others', async () => {
    for (let i = 0; i < 8; i++) trials.add({} as ViewerLayer)
    const layer = open()
    await pass(10_000)
    expect([layer.layer, links]).toEqual(['low', 0])
    trials.clear()
    await pass(10_000)
    expect(layer.layer).toBe('high')
  })

  it('follows a program that gains and loses its low layer', () => {
    program.hasLow = false
    const layer = open('high')
    program.hasLow = true
    layer.update()
    expect([layer.layer, changes]).toEqual(['low', 1])
    program.hasLow = false
    layer.update()
    expect([layer.layer, changes]).toEqual(['high', 2])
  })

  it('leaves nothing behind when its consumer closes during a trial', async () => {
    const layer = open()
    await pass(3_500)
    consumer.observer.emit('close')
    await settle()
    expect([trials.size, links, frame, clock.running]).toEqual([0, 0, undefined, 0])
    expect(layer.layer).toBe('low')
  })

  it('has the figures of its stream', async () => {
    const layer = open()
    Object.assign(consumer.stat, { bitrate: 250_400.4, fractionLost: 64 })
    expect(await layer.figures()).toEqual({
      bitRate: 250_400,
      loss: 0.25,
      roundTripMs: 20,
      streams: 1,
      layer: 'low',
      isPaused: false,
      framesPerSecond: 15,
    })
  })
})
