import { expect, it } from 'vitest'
import { type CallControl, VerbFailed } from '../../../handlers/verbs.ts'
import { newCallId } from '../call/ids.ts'
import { settle, setUp } from '../testing/calls-fixture.ts'
import { fakeLeg } from '../testing/fake-legs.ts'

const connect = (call: CallControl) =>
  call.connect({ steps: [[{ to: 'sip:b@y' }]], answerOnBridge: true }).then(() => {})

/** Starts a call, and counts the reports of its end. */
const begin = (t: ReturnType<typeof setUp>, dial: string) => {
  const callId = newCallId()
  const made = fakeLeg(t.clock, callId)
  let over = 0
  const plan = { kind: 'dial', to: dial } as const
  t.calls.arrive({ leg: made.leg, callId, projectId: 'p', plan, headers: [], onOver: () => over++ })
  return { ...made, over: () => over }
}

it('a call ends with its last leg, not when its caller leaves by a transfer', async () => {
  const t = setUp()
  const caller = begin(t, 'sip:b@y')
  await settle()
  const first = t.outbound.dialled[0]!
  first.leg.answered()
  await settle()
  expect(caller.leg.referred({ to: 'sip:c@y', progress: () => {} })).toBe(true)
  caller.leg.ended({ code: 'normal' })
  await settle()
  const second = t.outbound.dialled[1]!
  second.leg.answered()
  await settle()
  expect([caller.over(), first.leg.isAnswered, second.leg.isAnswered]).toEqual([0, true, true])
  first.leg.ended({ code: 'normal' })
  await settle()
  expect([caller.over(), second.leg.isEnded, t.calls.count]).toEqual([1, true, 0])
})

it('a call that is rejected, or whose caller has hung up, ends at once', async () => {
  const t = setUp()
  t.arrive(connect)
  t.arrive(connect)
  const refused = begin(t, 'sip:b@y')
  expect([refused.over(), refused.far.requests]).toEqual([1, ['end over_call_limit']])
  const gone = fakeLeg(t.clock, newCallId())
  gone.leg.ended({ code: 'canceled' })
  let over = 0
  const plan = { kind: 'dial', to: 'sip:b@y' } as const
  const onOver = () => over++
  t.calls.arrive({ leg: gone.leg, callId: newCallId(), projectId: 'p', plan, headers: [], onOver })
  expect(over).toBe(1)
})

it('a call to the room of a token joins it, and ends with it or with its refusal', async () => {
  const joined: string[] = []
  let refusal: VerbFailed | undefined
  const join = async (_call: unknown, { name }: { readonly name: string }) => {
    joined.push(name)
    if (refusal) throw refusal
    return { kind: 'left', roomId: 'r', roomSessionId: 's', durationMs: 1 } as const
  }
  const t = setUp({ rooms: { join } })
  const arrives = async () => {
    const callId = newCallId()
    const made = fakeLeg(t.clock, callId)
    const plan = { kind: 'room', name: 'lounge' } as const
    t.calls.arrive({ leg: made.leg, callId, projectId: 'p', plan, headers: [] })
    await settle()
    return made.far.requests
  }
  expect(await arrives()).toEqual(['end normal'])
  refusal = new VerbFailed('room_full', 'full')
  expect(await arrives()).toEqual(['end room_full'])
  expect(joined).toEqual(['lounge', 'lounge'])
})
