import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import { FakeClock } from '../../core/clock.ts'
import { buildCdr } from '../log/call-cdr.ts'
import { fakeLeg } from '../testing/fake-legs.ts'
import { Call } from './call.ts'
import { newCallId } from './ids.ts'

const hour = 3_600_000
const noOwner = {
  legEarly: () => {},
  legAnswered: () => {},
  legDigit: () => {},
  legHeld: () => {},
  legEnded: () => {},
}

const setUp = () => {
  const clock = new FakeClock()
  const callId = newCallId()
  const caller = fakeLeg(clock, callId)
  const events: string[] = []
  const call = new Call({
    info: {
      callId,
      direction: 'inbound',
      type: 'sip',
      from: '',
      to: '',
      fromUser: '',
      toUser: '',
      fromName: '',
      headers: [],
      projectId: 'p',
    },
    caller: caller.leg,
    clock,
    log: pino({ level: 'silent' }),
    observer: { callAnswered: () => events.push('answered'), callEnded: () => events.push('ended') },
    maxDurationMs: hour,
  })
  return { clock, call, caller, events }
}

describe('the maximum duration of a call', () => {
  it('starts with the answer of either kind of leg', async () => {
    const { clock, call, caller } = setUp()
    clock.advance(hour / 2)
    await caller.leg.answer()
    clock.advance(hour - 1)
    expect(call.caller.isEnded).toBe(false)
    clock.advance(1)
    expect(call.caller.state).toMatchObject({ cause: { code: 'max_duration' } })
    expect(clock.running).toBe(0)
  })

  it('ends a call without an answer, too', () => {
    const { clock, call } = setUp()
    clock.advance(hour)
    expect(call.caller.state).toMatchObject({ cause: { code: 'max_duration' } })
  })

  it('can become shorter, but never longer than the limit of the call', async () => {
    const { clock, call, caller } = setUp()
    call.limitDuration(1_000)
    clock.advance(2_000)
    await caller.leg.answer()
    clock.advance(500)
    call.limitDuration(10 * hour)
    clock.advance(hour - 501)
    expect(call.caller.isEnded).toBe(false)
    clock.advance(1)
    expect(call.caller.state).toMatchObject({ cause: { code: 'max_duration' } })
  })
})

describe('the end of a call', () => {
  it('is the end of its last leg, and the end of the caller’s leg ends all others', () => {
    const { clock, call, caller, events } = setUp()
    const owner = { ...noOwner, legEnded: () => events.push('leg ended') }
    const ringing = fakeLeg(clock, call.id)
    const talking = fakeLeg(clock, call.id)
    call.adopt(ringing.leg, owner)
    call.adopt(talking.leg, owner)
    talking.leg.answered()
    caller.leg.ended({ code: 'normal' })
    expect([ringing.far.requests, talking.far.requests]).toEqual([['end canceled'], ['end normal']])
    expect(events).toEqual(['leg ended', 'leg ended', 'ended'])
    const late = fakeLeg(clock, call.id)
    call.adopt(late.leg, owner)
    expect(late.far.requests).toEqual(['end canceled'])
    expect(events.filter((what) => what === 'ended')).toHaveLength(1)
  })

  it('reports the first hundred legs and the number of further ones', async () => {
    const { clock, call, caller } = setUp()
    for (let i = 0; i < 1_000; i++) {
      const { leg } = fakeLeg(clock, call.id)
      call.adopt(leg, noOwner)
      leg.ended({ code: 'busy' })
    }
    expect(call.legs.size).toBe(1)
    caller.leg.ended({ code: 'normal' })
    expect(call.legs.size).toBe(0)
    const { legs, moreLegs } = await buildCdr(call, clock.now(), (stats) => stats)
    expect([legs.length, moreLegs, legs[0]?.role, legs[1]?.code]).toEqual([100, 901, 'caller', 'busy'])
  })

  it('settles work that never ends, and passes on the first outcome', async () => {
    const { call, caller } = setUp()
    expect(await call.whileUp(Promise.resolve('done'))).toBe('done')
    const pending = call.whileUp(new Promise(() => {}))
    caller.leg.ended({ code: 'normal' })
    await expect(pending).rejects.toMatchObject({ name: 'CallEnded' })
    await expect(call.whileUp(Promise.reject(new Error('late')))).rejects.toMatchObject({ name: 'CallEnded' })
  })
})
