import { describe, expect, it } from 'vitest'
import type { EngineChange, EngineFailure, EngineListener, EngineMessage } from './engine.ts'
import { EngineSeat, type SeatOwner } from './engine-seat.ts'
import { FakeEngine } from './testing/fake-engine.ts'
import { ResetClock } from './testing/reset-clock.ts'

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
  const clock = new ResetClock()
  const seen: string[] = []
  const lost: number[] = []
  const parts: string[] = []
  const owner: SeatOwner & { isQuiet: boolean; history: EngineMessage[] } = {
    isQuiet: true,
    history: [],
    request: () => ({ ...request, history: [...owner.history] }),
    onSeated: () => seen.push('seated'),
    onLost: () => lost.push(clock.now()),
    onFailure: ({ name }, { kind, part }) => {
      parts.push(part)
      seen.push(`${name} failed: ${kind}`)
    },
    onEmpty: ({ kind }) => seen.push(`empty: ${kind}`),
    listener: new Proxy({} as SeatOwner['listener'], {
      get: (_, event) => () => seen.push(String(event)),
    }),
  }
  const seat = new EngineSeat(engines, owner, clock)
  return { seat, owner, clock, seen, parts }
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

  it('changes a session, and replaces one that cannot: in its settings, or in its history', () => {
    const prompt = { prompt: 'Be quick.' }
    const history = { history: [] }
    const changed = (abilities: ConstructorParameters<typeof FakeEngine>[1], change: EngineChange) => {
      const engine = new FakeEngine('fake', abilities)
      const { seat } = openSeat(engine)
      engine.link.listener.onReady()
      seat.change(change)
      return [engine.links.length, engine.links[0]!.commands]
    }
    expect(changed({}, history)).toEqual([1, [['change', history]]])
    expect(changed({ changesHistory: false }, prompt)).toEqual([1, [['change', prompt]]])
    expect(changed({ changesHistory: false }, { ...prompt, ...history })).toEqual([2, []])
    expect(changed({ changes: false, changesHistory: false }, prompt)).toEqual([2, []])
  })

  it('does not take a change of the time of day for a stable session', () => {
    const engine = new FakeEngine('one')
    const { clock, seen } = openSeat(engine)
    engine.link.listener.onFailure(lost)
    engine.link.listener.onReady()
    clock.setForward(3_600_000)
    engine.link.listener.onFailure(lost)
    expect(seen).toContain('empty: connection')
  })

  it('names a silent engine as in the configuration', () => {
    const { seat, clock, parts } = openSeat(new FakeEngine('first'), new FakeEngine('second'))
    clock.advance(5000)
    const { link } = seat.engine as FakeEngine
    link.listener.onReady()
    seat.renew('no answer', true)
    expect(parts).toEqual(['first', 'second'])
  })

  it('gives up a session that is not ready within 5 s', () => {
    const engine = new FakeEngine()
    const { clock, seen } = openSeat(engine)
    clock.advance(4_999)
    expect(seen).toEqual([])
    clock.advance(1)
    clock.advance(5_000)
    expect(seen).toEqual(['fake failed: timeout', 'fake failed: timeout', 'empty: timeout'])
  })

  it('opens nothing if the conversation ends with its session', () => {
    const engine = new FakeEngine()
    const { seat, owner, clock } = openSeat(engine)
    Object.assign(owner, { onLost: () => seat.close() })
    engine.link.listener.onReady()
    engine.link.listener.onFailure(lost)
    expect([engine.links.length, clock.running]).toEqual([1, 0])
    const next = openSeat(engine)
    Object.assign(next.owner, { onLost: () => next.seat.close() })
    engine.link.listener.onReady()
    engine.link.listener.onClosing(1000)
    engine.link.listener.onReady()
    next.clock.advance(1000)
    expect([engine.link.isClosed, next.clock.running]).toEqual([true, 0])
  })

  it('opens a session anew if words of its history are no longer true and it cannot change', () => {
    const engine = new FakeEngine('fixed', { changes: false })
    const { seat, owner, clock } = openSeat(engine)
    engine.link.listener.onReady()
    owner.history = [{ role: 'assistant', content: 'We have three rooms.' }]
    engine.link.listener.onClosing(30_000)
    const second = engine.link
    second.listener.onReady()
    // The caller interrupted.
    owner.history = [{ role: 'assistant', content: 'We have' }]
    clock.advance(100)
    const third = engine.link
    expect([second.isClosed, seat.link, engine.links.length]).toEqual([true, engine.links[0], 3])
    third.listener.onReady()
    clock.advance(100)
    expect(seat.link).toBe(third)
    expect(third.request.history).toEqual(owner.history)
  })

  it('opens a session anew while a side speaks, so that one with the truth is ready in the silence', () => {
    const engine = new FakeEngine('fixed', { changes: false })
    const { seat, owner, clock } = openSeat(engine)
    engine.link.listener.onReady()
    owner.isQuiet = false
    owner.history = [{ role: 'assistant', content: 'We have three rooms.' }]
    engine.link.listener.onClosing(30_000)
    const second = engine.link
    second.listener.onReady()
    owner.history = [{ role: 'assistant', content: 'We have' }]
    clock.advance(100)
    const third = engine.link
    expect([second.isClosed, engine.links.length]).toEqual([true, 3])
    third.listener.onReady()
    clock.advance(1000)
    expect(engine.links).toHaveLength(3)
    owner.isQuiet = true
    clock.advance(100)
    expect([seat.link, engine.links.length]).toEqual([third, 3])
  })

  it('replaces a session soon that had to be used with an old history', () => {
    const engine = new FakeEngine('fixed', { changes: false })
    const { seat, owner, clock } = openSeat(engine)
    engine.link.listener.onReady()
    owner.history = [{ role: 'user', content: 'One.' }]
    engine.link.listener.onClosing(30_000)
    const second = engine.link
    second.listener.onReady()
    owner.history = [{ role: 'user', content: 'Another one.' }]
    engine.links[0]?.listener.onFailure(lost)
    expect(seat.link).toBe(second)
    const third = engine.link
    third.listener.onReady()
    clock.advance(100)
    expect([seat.link, third.request.history]).toEqual([third, owner.history])
  })

  it('does not wait twice for a silent engine if there is another one', () => {
    const one = new FakeEngine('one')
    const two = new FakeEngine('two')
    const { clock, seen } = openSeat(one, two)
    clock.advance(5_000)
    two.link.listener.onReady()
    expect(seen).toEqual(['one failed: timeout', 'seated'])
    expect(one.links).toHaveLength(1)
  })

  it('leaves no timer of a failed refresh that another refresh replaced', () => {
    const engine = new FakeEngine('fixed', { changes: false })
    const { seat, clock } = openSeat(engine)
    engine.link.listener.onReady()
    seat.refresh()
    engine.link.listener.onFailure(lost)
    seat.refresh()
    seat.close()
    expect(clock.running).toBe(0)
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
