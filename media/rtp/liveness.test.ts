import { describe, expect, it } from 'vitest'
import { Liveness } from './liveness.ts'

const minute = 60_000

describe('liveness', () => {
  const fresh = () => new Liveness({ startMs: 30_000, mediaMs: 60_000 })

  it('never expires before the start', () => {
    expect(fresh().tick(minute * 60)).toBeUndefined()
  })

  it('reports a far end that never sent, repeatedly', () => {
    const liveness = fresh()
    liveness.start(0, false)
    expect([liveness.tick(29_999), liveness.tick(30_000), liveness.tick(30_100)]).toEqual([
      undefined,
      'start',
      undefined,
    ])
    expect(liveness.tick(60_000)).toBe('start')
  })

  it('reports a far end that fell silent', () => {
    const liveness = fresh()
    liveness.start(0, false)
    liveness.received(10_000)
    expect([liveness.tick(69_999), liveness.tick(70_000)]).toEqual([undefined, 'media'])
  })

  it('waits through a hold of twelve minutes, and then for the whole time-out', () => {
    const liveness = fresh()
    liveness.start(0, false)
    liveness.received(1000)
    liveness.start(2000, true)
    for (let at = 2000; at <= 12 * minute; at += 1000) expect(liveness.tick(at)).toBeUndefined()
    liveness.start(12 * minute, false)
    expect(liveness.tick(13 * minute - 1)).toBeUndefined()
    expect(liveness.tick(13 * minute)).toBe('media')
  })

  it('never expires with Infinity', () => {
    const liveness = new Liveness({ startMs: Number.POSITIVE_INFINITY, mediaMs: Number.POSITIVE_INFINITY })
    liveness.start(0, false)
    expect(liveness.tick(1e12)).toBeUndefined()
  })
})
