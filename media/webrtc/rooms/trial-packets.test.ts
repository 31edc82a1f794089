import type { types } from 'mediasoup'
import { describe, expect, it } from 'vitest'
import { TestClock } from '../../edge/testing/test-clock.ts'
import { readRtp, rtpView } from '../../rtp/packet.ts'
import { TrialPackets } from './trial-packets.ts'

/** Opens the packets of a trial. `frames` lets frames pass, and returns the bit/s on the path. */
const open = async (rate: number, consuming = Promise.resolve()) => {
  const clock = new TestClock()
  const sent: { readonly at: number; readonly packet: Buffer }[] = []
  const state = { isOpen: true, consumed: [] as string[], closed: 0 }
  const router = {
    createDirectTransport: async () => ({
      produce: async () => ({
        id: 'p',
        closed: false,
        send: (packet: Buffer) => sent.push({ at: clock.now(), packet: Buffer.from(packet) }),
      }),
      close: () => {
        state.isOpen = false
      },
    }),
  }
  const transport = {
    consume: async ({ producerId }: { readonly producerId: string }) => {
      state.consumed.push(producerId)
      await consuming
      return { close: () => state.closed++ }
    },
  }
  const packets = new TrialPackets({
    clock,
    router: router as unknown as types.Router,
    transport: transport as unknown as types.Transport,
  })
  packets.setRate(rate)
  for (let i = 0; i < 20; i++) await undefined
  const frames = (count: number, perSecond: number): number => {
    const before = sent.length
    for (let i = 0; i < count; i++) {
      clock.advance(1000 / perSecond)
      packets.beforeFrame()
    }
    const headers = 10 + 8 + 20
    const bits = sent.slice(before).reduce((sum, { packet }) => sum + 8 * (packet.length + headers), 0)
    return (bits * perSecond) / count
  }
  return { packets, sent, state, frames }
}

describe('the extra packets of a trial', () => {
  it.each([60_000, 220_000, 1_300_000])('have %i bit/s, whatever the rate of the frames', async (rate) => {
    for (const perSecond of [15, 20, 30]) {
      const { frames } = await open(rate)
      const found = frames(20 * perSecond, perSecond)
      expect(found).toBeGreaterThan(0.9 * rate)
      expect(found).toBeLessThanOrEqual(1.05 * rate)
    }
  })

  it('are sent before every second frame, as one stream that no browser knows', async () => {
    const { sent, state, frames } = await open(600_000)
    frames(40, 20)
    const times = [...new Set(sent.map(({ at }) => at))]
    expect(times).toHaveLength(20)
    const read = sent.map(({ packet }) => {
      const view = rtpView()
      expect(readRtp(packet, view)).toBe(true)
      return view
    })
    expect(new Set(read.map(({ payloadType }) => payloadType))).toEqual(new Set([0]))
    expect(new Set(read.map(({ ssrc }) => ssrc)).size).toBe(1)
    const [first] = read
    for (const [at, { sequence }] of read.entries()) expect(sequence).toBe((first!.sequence + at) & 0xffff)
    expect(state.consumed).toEqual(['p'])
  })

  it('end with their transport', async () => {
    const { packets, sent, state } = await open(600_000)
    packets.close()
    packets.close()
    packets.beforeFrame()
    expect([state.isOpen, sent]).toEqual([false, []])
  })

  it('leave no consumer that was still opening when they ended', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const { packets, state } = await open(600_000, promise)
    packets.close()
    expect([state.consumed, state.closed]).toEqual([['p'], 0])
    resolve()
    await expect.poll(() => state.closed).toBe(1)
  })
})
