import { describe, expect, it } from 'vitest'
import { FakeClock } from '../core/clock.ts'
import type { EngineFailure, EngineListener } from './engine.ts'
import { EngineSeat, type SeatOwner } from './engine-seat.ts'
import { FakeEngine } from './testing/fake-engine.ts'

const request = {
  projectId: 'p',
  prompt: 'Be kind.',
  functions: [],
  history: [],
  languages: [],
  hints: [],
  pronounce: [],
  settings: {},
  isSemantic: true,
  endOfSpeechMs: 700,
}
const lost: EngineFailure = { kind: 'connection', message: 'lost', part: 'fake' }

const openSeat = (...engines: FakeEngine[]) => {
  const clock = new FakeClock()
  const seen: string[] = []
  const lost: number[] = []
  const owner = {
    isQuiet: true,
    request: () => request,
    onSeated: () => seen.push('seated'),
    onLost: () => lost.push(clock.now()),
    onFailure: ({ name }, { kind }) => seen.push(`${name} failed: ${kind}`),
    onEmpty: ({ kind }) => seen.push(`empty: ${kind}`),
    listener: new Proxy({} as SeatOwner['listener'], {
      get: (_, event) => () => seen.push(String(event)),
    }),
  } satisfies SeatOwner as SeatOwner & { isQuiet: boolean }
  const seat = new EngineSeat(engines, owner, clock)
  return { seat, owner, clock, seen }
}

describe('EngineSeat', () => {
  it('reports a session that is ready, and passes its events on', () => {
    const engine = new FakeEngine()
    const { seen } = openSeat(engine)
    const { listener } = engine.link
    listener.onReady()
    listener.onAnswer('a')
    expect(seen).toEqual(['seated', 'onAnswer'])
  })

  it('opens the next session before the present one ends, and uses it in a silence', () => {
    const engine = new FakeEngine()
    const { seat, owner, clock, seen } = openSeat(engine)
    const first = engine.link
    first.listener.onReady()
    Object.assign(owner, { isQuiet: false })
    first.listener.onClosing(30_000)
    const second = engine.link
    expect(second).not.toBe(first)
    second.listener.onReady()
    second.listener.onAnswer('early')
    clock.advance(5_000)
    expect(seat.link).toBe(first)
    Object.assign(owner, { isQuiet: true })
    clock.advance(100)
    expect(seat.link).toBe(second)
    expect(first.isClosed).toBe(true)
    first.listener.onAnswer('late')
    expect(seen).toEqual(['seated', 'seated'])
  })

  it('changes over 2 s before the end even if a side speaks', () => {
    const engine = new FakeEngine()
    const { seat, owner, clock } = openSeat(engine)
    const first = engine.link
    first.listener.onReady()
    Object.assign(owner, { isQuiet: false })
    first.listener.onClosing(10_000)
    engine.link.listener.onReady()
    clock.advance(7_900)
    expect(seat.link).toBe(first)
    clock.advance(200)
    expect(seat.link).toBe(engine.link)
  })

  it('rotates 30 s before the longest session of the engine', () => {
    const engine = new FakeEngine('limited', { longestMs: 600_000 })
    const { clock } = openSeat(engine)
    engine.link.listener.onReady()
    clock.advance(569_999)
    expect(engine.links).toHaveLength(1)
    clock.advance(1)
    expect(engine.links).toHaveLength(2)
  })

  it('tries a failed engine once more, then the next one, and reports that none is left', () => {
    const one = new FakeEngine('one')
    const two = new FakeEngine('two')
    const { seen } = openSeat(one, two)
    one.link.listener.onReady()
    one.link.listener.onFailure(lost)
    expect(one.links).toHaveLength(2)
    one.link.listener.onFailure(lost)
    two.link.listener.onReady()
    two.link.listener.onFailure(lost)
    two.link.listener.onFailure(lost)
    expect(seen).toEqual([
      'seated',
      'one failed: connection',
      'one failed: connection',
      'seated',
      'two failed: connection',
      'two failed: connection',
      'empty: connection',
    ])
  })

  it('does not try an engine again that rejects the key', () => {
    const one = new FakeEngine('one')
    const two = new FakeEngine('two')
    openSeat(one, two)
    one.link.listener.onFailure({ ...lost, kind: 'unauthorised' })
    expect([one.links.length, two.links.length]).toEqual([1, 1])
  })

  it('keeps the engine of a working session if the next one is refused, and opens again at its end', () => {
    const engine = new FakeEngine('limited', { longestMs: 600_000 })
    const { seat, clock, seen } = openSeat(engine)
    const first = engine.link
    first.listener.onReady()
    first.listener.onClosing(60_000)
    engine.link.listener.onFailure({ ...lost, kind: 'unauthorised' })
    clock.advance(570_000)
    expect([engine.links.length, seat.link]).toEqual([3, first])
    expect(seen).toEqual(['seated', 'limited failed: unauthorised'])
  })

  it('repeats a refresh that failed, so that the model gets the present prompt', () => {
    const engine = new FakeEngine()
    const { seat, clock } = openSeat(engine)
    engine.link.listener.onReady()
    seat.refresh()
    engine.link.listener.onFailure(lost)
    clock.advance(5_000)
    expect(engine.links).toHaveLength(3)
    engine.link.listener.onReady()
    clock.advance(100)
    expect(seat.link).toBe(engine.link)
  })

  it('does not count a renewal that is no fault of the engine', () => {
    const engine = new FakeEngine()
    const { seat, seen } = openSeat(engine)
    for (let i = 0; i < 4; i++) {
      engine.link.listener.onReady()
      seat.renew('no words', false)
    }
    expect(seen).not.toContain('empty: timeout')
  })

  it('counts anew after a stable session, so that hours of rare failures end no conversation', () => {
    const engine = new FakeEngine()
    const { clock, seen } = openSeat(engine)
    for (let i = 0; i < 20; i++) {
      engine.link.listener.onReady()
      clock.advance(10_000)
      engine.link.listener.onFailure(lost)
    }
    expect(seen).not.toContain('empty: connection')
    expect(engine.links).toHaveLength(21)
  })

  it('gives up a session that is not ready within 8 s', () => {
    const engine = new FakeEngine()
    const { clock, seen } = openSeat(engine)
    clock.advance(8_000)
    clock.advance(8_000)
    expect(seen).toEqual(['fake failed: timeout', 'fake failed: timeout', 'empty: timeout'])
  })

  it('leaves no timer and passes nothing on after its end', () => {
    const engine = new FakeEngine('limited', { longestMs: 600_000 })
    const { seat, clock, seen } = openSeat(engine)
    const { listener }: { listener: EngineListener } = engine.link
    listener.onReady()
    listener.onClosing(5_000)
    seat.close()
    listener.onAnswer('late')
    listener.onFailure(lost)
    expect(seen).toEqual(['seated'])
    expect(engine.links.every(({ isClosed }) => isClosed)).toBe(true)
    clock.advance(3_600_000)
    expect(engine.links).toHaveLength(2)
  })
})
