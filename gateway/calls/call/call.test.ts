import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import { FakeClock } from '../../core/clock.ts'
import { buildCdr } from '../log/call-cdr.ts'
import { fakeLeg } from '../testing/fake-legs.ts'
import { Call } from './call.ts'
import { newCallId } from './ids.ts'

const hour = 3_600_000
const nobody = {
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
  const told: string[] = []
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
    observer: { callAnswered: () => told.push('answered'), callEnded: () => told.push('ended') },
    maxDurationMs: hour,
  })
  return { clock, call, caller, told }
}

describe('the longest duration of a call', () => {
  it('counts from the answer, however the call was answered', async () => {
    const { clock, call, caller } = setUp()
    clock.advance(hour / 2)
    await caller.leg.answer()
    clock.advance(hour - 1)
    expect(call.caller.isEnded).toBe(false)
    clock.advance(1)
    expect(call.caller.state).toMatchObject({ cause: { code: 'max_duration' } })
    expect(clock.running).toBe(0)
  })

  it('ends a call that nobody answers too', () => {
    const { clock, call } = setUp()
    clock.advance(hour)
    expect(call.caller.state).toMatchObject({ cause: { code: 'max_duration' } })
  })

  it('can be made shorter, and never longer than the call was made with', async () => {
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
  it('is that of its last leg, and the end of the caller ends all the others', () => {
    const { clock, call, caller, told } = setUp()
    const owner = { ...nobody, legEnded: () => told.push('leg ended') }
    const ringing = fakeLeg(clock, call.id)
    const talking = fakeLeg(clock, call.id)
    call.adopt(ringing.leg, owner)
    call.adopt(talking.leg, owner)
    talking.leg.answered()
    caller.leg.ended({ code: 'normal' })
    expect([ringing.far.told, talking.far.told]).toEqual([['end canceled'], ['end normal']])
    expect(told).toEqual(['leg ended', 'leg ended', 'ended'])
    const late = fakeLeg(clock, call.id)
    call.adopt(late.leg, owner)
    expect(late.far.told).toEqual(['end canceled'])
    expect(told.filter((what) => what === 'ended')).toHaveLength(1)
  })

  it('tells of the first hundred legs, and how many more there were', async () => {
    const { clock, call, caller } = setUp()
    for (let i = 0; i < 1_000; i++) {
      const { leg } = fakeLeg(clock, call.id)
      call.adopt(leg, nobody)
      leg.ended({ code: 'busy' })
    }
    expect(call.legs.size).toBe(1)
    caller.leg.ended({ code: 'normal' })
    expect(call.legs.size).toBe(0)
    const { legs, moreLegs } = await buildCdr(call, clock.now(), (stats) => stats)
    expect([legs.length, moreLegs, legs[0]?.role, legs[1]?.code]).toEqual([100, 901, 'caller', 'busy'])
  })

  it('settles what waits for something that never comes, and passes on what came first', async () => {
    const { call, caller } = setUp()
    expect(await call.whileUp(Promise.resolve('done'))).toBe('done')
    const pending = call.whileUp(new Promise(() => {}))
    caller.leg.ended({ code: 'normal' })
    await expect(pending).rejects.toMatchObject({ name: 'CallEnded' })
    await expect(call.whileUp(Promise.reject(new Error('late')))).rejects.toMatchObject({ name: 'CallEnded' })
  })
})
