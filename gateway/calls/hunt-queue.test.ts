import { beforeEach, describe, expect, it } from 'vitest'
import { settle, setUp } from './hunt-rig.ts'

describe('somebody in a queue', () => {
  let t: Awaited<ReturnType<typeof setUp>>
  beforeEach(async () => {
    t = await setUp()
  })

  it('is waited for, joined, and goes on alone when the caller leaves', async () => {
    const giveUp = new AbortController()
    await t.hunt([[t.to('queue:support')]], { signal: giveUp.signal })
    expect([t.waiters.asked, t.states]).toEqual([['support'], []])
    const waiting = await t.caller()
    t.waiters.arrives(waiting.call)
    await settle()
    expect([t.bridges.count, t.states]).toEqual([1, ['queue:support answered']])
    t.a.leg.digit('1')
    waiting.leg.digit('2')
    await settle()
    expect([t.a.far.told, waiting.far.told]).toEqual([
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
    expect([t.bridges.count, t.waiters.released, waiting.leg.isAnswered]).toEqual([0, 1, true])
    expect(t.states.at(-1)).toBe('queue:support ended completed normal 2000')
    waiting.leg.digit('3')
    expect(t.a.far.told).toEqual(['answer', 'digits 2'])
  })

  it('ends the time together by hanging up, and cannot be transferred', async () => {
    await t.hunt([[t.to('queue:support')]])
    const waiting = await t.caller()
    t.waiters.arrives(waiting.call)
    await settle()
    expect(t.a.leg.referred({ to: 'sip:c@y', progress: () => {} })).toBe(false)
    waiting.leg.ended({ code: 'normal' })
    await settle()
    expect(t.outcomes).toMatchObject([{ result: { endedBy: 'callee' } }])
    expect([t.bridges.count, t.waiters.released]).toEqual([0, 1])
  })

  it('is released when the caller hangs up', async () => {
    await t.hunt([[t.to('queue:support')]])
    const waiting = await t.caller()
    t.waiters.arrives(waiting.call)
    await settle()
    t.a.leg.ended({ code: 'normal' })
    await settle()
    expect(t.outcomes).toMatchObject([{ result: { endedBy: 'caller' } }])
    expect([t.waiters.released, waiting.leg.isAnswered]).toEqual([1, true])
  })

  it('is not waited for longer than the ring time, nor when somebody else answers', async () => {
    await t.hunt([[t.to('queue:support', { timeoutMs: 5_000 })], [t.to('queue:sales'), t.to('sip:b@y')]])
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
    expect([t.bridges.count, t.waiters.released]).toEqual([1, 0])
  })
})
