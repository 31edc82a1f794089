import { describe, expect, it, vi } from 'vitest'
import type { CallQuality } from './media-types.ts'
import { type AudioCounters, qualityBetween } from './quality.ts'
import { settled } from './testing/fakes.ts'
import { answered, setUp } from './testing/situations.ts'

const start: AudioCounters = { received: 1_000, lost: 5, jitterMs: 5, sentLoss: 0, roundTripMs: 40 }

it.each<[string, Partial<AudioCounters>, number]>([
  ['no loss', { received: 1_100 }, 3],
  ['some loss', { received: 1_100, lost: 9 }, 2],
  ['much loss', { received: 1_100, lost: 25 }, 1],
  ['loss of what is sent', { received: 1_100, sentLoss: 0.04 }, 2],
  ['jitter', { received: 1_100, jitterMs: 45 }, 2],
  ['much jitter', { received: 1_100, jitterMs: 80 }, 1],
  ['a long way', { received: 1_100, roundTripMs: 400 }, 2],
  ['silence of the network', {}, 0],
])('%s', (_name, change, bars) => {
  expect(qualityBetween(start, { ...start, ...change }).bars).toBe(bars)
})

describe('the quality of a call', () => {
  const measured = async () => {
    const { browser, client } = await setUp()
    const call = await answered(browser, client)
    const seen: CallQuality[] = []
    const listener = (quality: CallQuality) => void seen.push(quality)
    const counts = (packetsReceived: number, packetsLost = 0) => {
      browser.peer.stats.set('in', {
        type: 'inbound-rtp',
        kind: 'audio',
        packetsReceived,
        packetsLost,
        jitter: 0.01,
      })
      browser.peer.stats.set('pair', { type: 'candidate-pair', nominated: true, currentRoundTripTime: 0.02 })
    }
    // Keeps the connection alive while the clock advances.
    const tick = async () => {
      browser.clock.advance(2_000)
      await settled()
    }
    return { browser, call, seen, listener, counts, tick }
  }

  it('is reported every two seconds while the event has a listener', async () => {
    const { call, seen, listener, counts, tick } = await measured()
    call.on('quality', listener)
    counts(100)
    await tick()
    counts(200)
    await tick()
    expect(seen).toEqual([{ bars: 3, loss: 0, jitterMs: 10, roundTripMs: 20 }])
    counts(200, 50)
    await tick()
    expect([seen.at(-1)?.bars, call.quality?.bars]).toEqual([0, 0])
    call.off('quality', listener)
    await tick()
    expect(seen).toHaveLength(2)
  })

  it('is not measured while the other side holds, and unknown after the hold', async () => {
    const { browser, call, seen, listener, counts, tick } = await measured()
    call.on('quality', listener)
    counts(100)
    await tick()
    counts(200)
    await tick()
    expect(call.quality?.bars).toBe(3)
    const other = { member_id: 'm2', room_session_id: 'r1' }
    const held = (on_hold: boolean) =>
      browser.socket.event('member.updated', {
        call_id: call.id,
        member: { ...other, on_hold, updated: ['on_hold'] },
      })
    browser.socket.event('member.joined', { call_id: call.id, member: other })
    held(true)
    expect(call.quality).toBeUndefined()
    await tick()
    await tick()
    held(false)
    counts(300)
    await tick()
    expect([seen.length, call.quality]).toEqual([1, undefined])
    counts(400)
    await tick()
    expect([seen.length, call.quality?.bars]).toEqual([2, 3])
  })

  it('is not measured on hold, and ends with the call', async () => {
    const { browser, call, seen, listener, counts, tick } = await measured()
    call.on('quality', listener)
    const reads = vi.spyOn(browser.peer, 'getStats')
    counts(100)
    await tick()
    void call.hold()
    await settled()
    browser.socket.reply('verto.modify')
    await settled()
    await tick()
    expect(seen).toEqual([])
    void call.hangup()
    browser.socket.reply('verto.bye')
    await settled()
    await tick()
    expect(reads).toHaveBeenCalledTimes(1)
  })
})
