import { beforeEach, describe, expect, it } from 'vitest'
import type { CallControl, QueueOptions, QueuePosition, QueueResult } from '../../../handlers/verbs.ts'
import { newCallId } from '../call/ids.ts'
import type { QueuedCaller } from '../connect/queued-callers.ts'
import { settle } from '../testing/calls-fixture.ts'
import { type ConferenceCaller, ConferenceFixture } from '../testing/conference-fixture.ts'
import { ProjectQueues } from './queues.ts'

interface Entered extends ConferenceCaller {
  readonly events: string[]
  result: QueueResult | Error | undefined
}

describe('a queue', () => {
  let fixture: ConferenceFixture
  let queues: ProjectQueues

  beforeEach(() => {
    fixture = new ConferenceFixture()
    queues = new ProjectQueues(fixture)
  })

  const enter = async (options: Partial<QueueOptions> = {}): Promise<Entered> => {
    const entered: Entered = { ...fixture.caller(), events: [], result: undefined }
    const onEvent = (kind: string, { position, size }: QueuePosition) =>
      void entered.events.push(`${kind} ${position}/${size}`)
    queues.enter(entered.call, entered.control, { name: 'support', onEvent, ...options }).then(
      (result) => {
        entered.result = result
      },
      (error: Error) => {
        entered.result = error
      },
    )
    await settle()
    return entered
  }
  const by = newCallId()
  /** Takes the next caller, and connects to it if `wanted`. */
  const take = (signal = new AbortController().signal, wanted = true) => {
    const taken: { caller?: QueuedCaller | undefined; over: boolean } = { over: false }
    void queues.take({ projectId: 'p', name: 'support', by }, signal).then((caller) => {
      taken.caller = caller
      taken.over = true
      if (wanted) caller?.join()
    })
    return taken
  }

  it('is listed for its own project alone, while a caller waits', async () => {
    const a = await enter({ maxSize: 7 })
    fixture.clock.advance(2_000)
    const b = await enter()
    const now = fixture.clock.now()
    expect(queues.of('p')).toMatchObject([
      {
        name: 'support',
        maxSize: 7,
        averageWaitMs: 0,
        openedAt: now - 2_000,
        members: [
          { callId: a.call.id, since: now - 2_000 },
          { callId: b.call.id, since: now },
        ],
      },
    ])
    expect(queues.of('q')).toEqual([])
    take()
    await settle()
    expect(queues.of('p')).toMatchObject([{ averageWaitMs: 2_000, members: [{ callId: b.call.id }] }])
  })

  it('has the same trimmed name for callers and consumers', async () => {
    const giveUp = new AbortController()
    void queues.take({ projectId: 'p', name: ' support ', by }, giveUp.signal)
    expect(queues.of('p').map(({ name }) => name)).toEqual(['support'])
    giveUp.abort()
    await settle()
    expect(queues.of('p')).toEqual([])
  })

  it('answers, plays music, and gives the first caller to the first consumer', async () => {
    const a = await enter()
    const b = await enter()
    expect([a.leg.isAnswered, a.audio.playing !== undefined, a.events, b.events, queues.waiting]).toEqual([
      true,
      true,
      ['enqueue 1/1'],
      ['enqueue 2/2'],
      2,
    ])
    fixture.clock.advance(3_000)
    const taken = take()
    await settle()
    expect([taken.caller?.call, a.audio.playing, a.events.at(-1)]).toEqual([a.call, undefined, 'dequeue 1/1'])
    fixture.clock.advance(7_000)
    taken.caller?.release()
    await settle()
    expect(a.result).toEqual({
      kind: 'bridged',
      queueId: expect.any(String),
      waitedMs: 3_000,
      position: 1,
      size: 1,
      durationMs: 7_000,
      by,
    })
    expect([a.leg.isAnswered, queues.waiting]).toEqual([true, 1])
  })

  it('keeps a rejected caller as the next one', async () => {
    const a = await enter()
    const b = await enter()
    fixture.clock.advance(1_000)
    const first = take(undefined, false)
    await settle()
    expect(first.caller?.call).toBe(a.call)
    first.caller?.release()
    await settle()
    expect([a.result, a.events, queues.waiting]).toEqual([undefined, ['enqueue 1/1'], 2])
    const second = take()
    const third = take()
    await settle()
    expect([second.caller?.call, third.caller?.call]).toEqual([a.call, b.call])
    expect(a.events).toEqual(['enqueue 1/1', 'dequeue 1/0'])
  })

  it('lets a consumer wait for a caller until its signal fires', async () => {
    const giveUp = new AbortController()
    const first = take(giveUp.signal)
    const second = take()
    giveUp.abort()
    await settle()
    expect([first.over, first.caller, second.over]).toEqual([true, undefined, false])
    const a = await enter()
    await settle()
    expect(second.caller?.call).toBe(a.call)
  })

  it('repeats the wait document, which can leave the queue', async () => {
    const places: QueuePosition[] = []
    const a = await enter({
      wait: async (_call: CallControl, place) => {
        places.push(place())
        return places.length < 3 ? undefined : 'leave'
      },
    })
    expect([places.length, a.result, a.events]).toMatchObject([
      3,
      { kind: 'left', position: 1 },
      ['enqueue 1/1', 'leave 1/0'],
    ])
    expect(a.control.verbs).toEqual([
      ['sleep', 1000],
      ['sleep', 1000],
    ])
    expect(a.audio.playing).toBeUndefined()
  })

  it('ends the wait after its maximum', async () => {
    const a = await enter({ maxWaitMs: 9_000 })
    fixture.clock.advance(9_000)
    await settle()
    expect([a.result, a.audio.playing]).toMatchObject([{ kind: 'timeout', waitedMs: 9_000 }, undefined])
    expect(queues.waiting).toBe(0)
  })

  it('has the maximum size that its first caller sets', async () => {
    await enter({ maxSize: 1 })
    const b = await enter()
    expect([b.result, b.events]).toMatchObject([{ kind: 'full', size: 1 }, []])
  })

  it('has the maximum size that its first caller sets, even if a consumer came first', async () => {
    const giveUp = new AbortController()
    take(giveUp.signal)
    await enter({ beforeBridge: () => new Promise(() => {}), maxSize: 1 })
    giveUp.abort()
    await settle()
    expect((await enter()).result).toMatchObject({ kind: 'full' })
  })

  it.each<[string, (a: Entered) => unknown]>([
    ['is over by its time', () => fixture.clock.advance(9_000)],
    ['ends with the call', (a) => a.leg.ended({ code: 'normal' })],
  ])('gives the next caller to a consumer that asks at the moment in which a wait %s', async (_, ends) => {
    const a = await enter({ maxWaitMs: 9_000 })
    ends(a)
    const taken = take()
    await settle()
    const b = await enter()
    expect([taken.caller?.call === b.call, queues.waiting]).toEqual([true, 0])
  })

  it('removes a caller who hangs up, and reports it', async () => {
    const a = await enter()
    a.leg.ended({ code: 'normal' })
    await settle()
    expect([a.result, a.events.at(-1), queues.waiting]).toMatchObject([{ kind: 'hangup' }, 'leave 1/0', 0])
    const taken = take()
    await settle()
    expect(taken.over).toBe(false)
  })

  it('is left by a signal, and rejects with its reason', async () => {
    const giveUp = new AbortController()
    const a = await enter({ signal: giveUp.signal })
    giveUp.abort(new Error('enough'))
    await settle()
    expect([a.result, queues.waiting]).toMatchObject([{ message: 'enough' }, 0])
  })

  describe('with a notice before the bridge', () => {
    const noticed = () => {
      const { promise, resolve } = Promise.withResolvers<void>()
      return { beforeBridge: () => promise, heard: resolve }
    }

    it('gives the caller after the notice', async () => {
      const { beforeBridge, heard } = noticed()
      const a = await enter({ beforeBridge })
      const taken = take()
      await settle()
      expect(taken.over).toBe(false)
      heard()
      await settle()
      expect(taken.caller?.call).toBe(a.call)
    })

    it('gives the next caller if the caller hangs up during the notice', async () => {
      const a = await enter(noticed())
      const b = await enter()
      const taken = take()
      await settle()
      a.leg.ended({ code: 'normal' })
      await settle()
      expect([a.result, taken.caller?.call]).toMatchObject([{ kind: 'hangup' }, {}])
      expect(taken.caller?.call).toBe(b.call)
    })

    it('keeps the caller as the next one if its consumer has gone', async () => {
      const { beforeBridge, heard } = noticed()
      const a = await enter({ beforeBridge })
      await enter()
      const giveUp = new AbortController()
      const first = take(giveUp.signal)
      await settle()
      giveUp.abort()
      heard()
      await settle()
      expect([first.caller, queues.waiting, a.audio.playing !== undefined]).toEqual([undefined, 2, true])
      const second = take()
      await settle()
      expect(second.caller?.call).toBe(a.call)
      expect(a.events).toEqual(['enqueue 1/1', 'dequeue 1/1'])
    })

    it('ends the wait if its maximum has passed meanwhile', async () => {
      const { beforeBridge } = noticed()
      const a = await enter({ beforeBridge, maxWaitMs: 9_000 })
      const giveUp = new AbortController()
      take(giveUp.signal)
      fixture.clock.advance(10_000)
      await settle()
      expect(a.result).toBeUndefined()
      giveUp.abort()
      await settle()
      fixture.clock.advance(0)
      await settle()
      expect([a.result, fixture.clock.running]).toMatchObject([{ kind: 'timeout', waitedMs: 10_000 }, 1])
    })

    it('keeps the only caller for other consumers', async () => {
      const { beforeBridge, heard } = noticed()
      const a = await enter({ beforeBridge })
      const giveUp = new AbortController()
      take(giveUp.signal)
      await settle()
      giveUp.abort()
      heard()
      await settle()
      const second = take()
      await settle()
      expect(second.caller?.call).toBe(a.call)
    })

    it('forgets a consumer that has gone when the caller hangs up', async () => {
      const a = await enter(noticed())
      let notices = 0
      await enter({ beforeBridge: async () => void notices++ })
      const giveUp = new AbortController()
      take(giveUp.signal)
      await settle()
      giveUp.abort()
      a.leg.ended({ code: 'normal' })
      await settle()
      expect([a.result, notices, queues.waiting]).toMatchObject([{ kind: 'hangup' }, 0, 1])
    })

    it('goes on without the notice if it fails', async () => {
      const a = await enter({ beforeBridge: () => Promise.reject(new Error('404')) })
      const taken = take()
      await settle()
      expect([taken.caller?.call, fixture.lines[0]]).toMatchObject([{}, { reason: 'Error: 404' }])
      expect(taken.caller?.call).toBe(a.call)
    })
  })

  it('reports the mean wait of served callers', async () => {
    await enter()
    fixture.clock.advance(4_000)
    take()
    await settle()
    const places: QueuePosition[] = []
    await enter({
      wait: async (_call, place) => {
        places.push(place())
        return 'leave'
      },
    })
    // An empty queue is removed, and the next one with its name has no history.
    expect(places[0]?.averageWaitMs).toBe(0)
    await enter()
    await enter()
    fixture.clock.advance(2_000)
    take()
    await settle()
    await enter({
      wait: async (_call, place) => {
        places.push(place())
        return 'leave'
      },
    })
    expect(places[1]?.averageWaitMs).toBe(2_000)
  })
})
