import { beforeEach, describe, expect, it } from 'vitest'
import type { Destination } from '../../../handlers/verbs.ts'
import { settle } from '../testing/calls-fixture.ts'
import { setUp } from '../testing/connect-fixture.ts'

describe('a caller of a queue', () => {
  let t: Awaited<ReturnType<typeof setUp>>
  beforeEach(async () => {
    t = await setUp()
  })

  it('is awaited, joined, and goes on alone when the caller hangs up', async () => {
    const giveUp = new AbortController()
    await t.fork([[t.to('queue:support')]], { signal: giveUp.signal })
    expect([t.queuedCallers.requested, t.states]).toEqual([['support'], []])
    const waiting = await t.caller()
    t.queuedCallers.arrives(waiting.call)
    await settle()
    expect([t.bridges.count, t.states]).toEqual([1, ['queue:support answered']])
    t.a.leg.digit('1')
    waiting.leg.digit('2')
    await settle()
    expect([t.a.far.requests, waiting.far.requests]).toEqual([
      ['answer', 'digits 2'],
      ['answer', 'digits 1'],
    ])
    waiting.leg.hold(true)
    expect(t.bridges.count).toBe(0)
    waiting.leg.hold(false)
    t.clock.advance(2_000)
    giveUp.abort()
    await settle()
    expect(t.outcomes).toMatchObject([
      {
        result: {
          kind: 'connected',
          endedBy: 'stopped',
          callee: { callId: waiting.call.id, to: 'queue:support' },
        },
      },
    ])
    expect([t.bridges.count, t.queuedCallers.released, waiting.leg.isAnswered]).toEqual([0, 1, true])
    expect(t.states.at(-1)).toBe('queue:support ended completed normal 2000')
    waiting.leg.digit('3')
    expect(t.a.far.requests).toEqual(['answer', 'digits 2'])
  })

  it('ends the connection by a hang-up, and cannot be transferred', async () => {
    await t.fork([[t.to('queue:support')]])
    const waiting = await t.caller()
    t.queuedCallers.arrives(waiting.call)
    await settle()
    expect(t.a.leg.referred({ to: 'sip:c@y', progress: () => {} })).toBe(false)
    waiting.leg.ended({ code: 'normal' })
    await settle()
    expect(t.outcomes).toMatchObject([{ result: { endedBy: 'callee' } }])
    expect([t.bridges.count, t.queuedCallers.released]).toEqual([0, 1])
  })

  describe('with a confirmation', () => {
    const ask = async (confirm: NonNullable<Destination['confirm']>) => {
      await t.fork([[t.to('queue:support', { confirm })]], { confirmTimeoutMs: 5_000 })
      const waiting = await t.caller()
      t.queuedCallers.arrives(waiting.call)
      await settle()
      return waiting
    }

    it('is joined when the confirmation resolves', async () => {
      const decide = Promise.withResolvers<void>()
      const asked: unknown[] = []
      const waiting = await ask((callee, place) => {
        asked.push(callee.info.callId, place?.waitedMs)
        return decide.promise
      })
      expect([asked, t.bridges.count]).toEqual([[waiting.call.id, 1_000], 0])
      decide.resolve()
      await settle()
      expect([t.bridges.count, t.queuedCallers.joined, t.queuedCallers.released]).toEqual([1, 1, 0])
    })

    it.each<[string, NonNullable<Destination['confirm']>]>([
      ['that fails', () => Promise.reject(new Error('no'))],
      ['its time is over', () => new Promise(() => {})],
    ])('goes on alone if %s', async (_, confirm) => {
      const waiting = await ask(confirm)
      t.clock.advance(5_000)
      await settle()
      expect([t.bridges.count, t.queuedCallers.joined, t.queuedCallers.released]).toEqual([0, 0, 1])
      expect(waiting.leg.isAnswered).toBe(true)
      expect(t.outcomes).toMatchObject([{ result: { kind: 'failed', reason: 'declined' } }])
    })

    it('goes on alone if the caller hangs up', async () => {
      const waiting = await ask(() => new Promise(() => {}))
      t.a.leg.ended({ code: 'normal' })
      await settle()
      expect([t.queuedCallers.released, waiting.leg.isAnswered]).toEqual([1, true])
      expect(t.states).toEqual(['queue:support ended canceled canceled 0'])
    })
  })

  it('is released when the caller hangs up', async () => {
    await t.fork([[t.to('queue:support')]])
    const waiting = await t.caller()
    t.queuedCallers.arrives(waiting.call)
    await settle()
    t.a.leg.ended({ code: 'normal' })
    await settle()
    expect(t.outcomes).toMatchObject([{ result: { endedBy: 'caller' } }])
    expect([t.queuedCallers.released, waiting.leg.isAnswered]).toEqual([1, true])
  })

  it('is awaited no longer than the ring time, or until another callee answers', async () => {
    await t.fork([[t.to('queue:support', { timeoutMs: 5_000 })], [t.to('queue:sales'), t.to('sip:b@y')]])
    t.clock.advance(5_000)
    await settle()
    t.outbound.dialled[0]!.leg.answered()
    await settle()
    expect(t.states).toEqual([
      'queue:support ended no-answer no_answer 0',
      'sip:b@y initiated',
      'sip:b@y answered',
      'queue:sales ended canceled answered_elsewhere 0',
    ])
    expect([t.bridges.count, t.queuedCallers.released]).toEqual([1, 0])
  })
})
