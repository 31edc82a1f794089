/** A removal from a room as the cause of the end of a call. */
import { expect, it } from 'vitest'
import type { CallControl, RoomResult } from '../../../handlers/verbs.ts'
import type { Cause } from '../../core/errors/catalogue.ts'
import { setUp } from '../testing/calls-fixture.ts'
import type { FakeLeg } from '../testing/fake-legs.ts'

const ids = { roomId: 'r', roomSessionId: 's', durationMs: 0 }

/** Fixture in which each caller of a room is answered, and leaves it at once. */
const roomThatEnds = (kind: RoomResult['kind']) =>
  setUp({
    rooms: {
      join: async (call) => {
        await call.caller.answer()
        return { kind, ...ids }
      },
    },
  })

const causeOf = async ({ leg }: FakeLeg): Promise<Cause | undefined> => {
  await new Promise<void>((resolve) => leg.whenGone(resolve))
  return leg.state.kind === 'ended' ? leg.state.cause : undefined
}

const join = (call: CallControl) => call.joinRoom({ name: 'lounge' })

it.each([
  ['removed', { code: 'normal', removal: 'removed' }],
  ['ended', { code: 'normal', removal: 'ended' }],
  ['expired', { code: 'normal', removal: 'expired' }],
  ['left', { code: 'normal' }],
] as const)('a call ends with the reason of a room that it was in until its end: %s', async (kind, cause) => {
  const t = roomThatEnds(kind)
  const dialled = t.arrive(async () => {}, { plan: { kind: 'room', name: 'lounge' } })
  expect(await causeOf(dialled)).toEqual(cause)
  const scripted = t.arrive(async (call) => {
    await join(call)
    await call.hangup()
  })
  expect(await causeOf(scripted)).toEqual(cause)
})

it('a call that goes on after the room ends without the reason', async () => {
  const t = roomThatEnds('removed')
  const side = t.arrive(async (call) => {
    await join(call)
    await call.ring()
  })
  expect(await causeOf(side)).toEqual({ code: 'normal' })
})

it.each([
  [1_000, { code: 'normal', removal: 'removed' }],
  [1_001, { code: 'normal' }],
])('the removal is the reason of an end at most a second later: %i ms', async (ms, cause) => {
  const t = roomThatEnds('removed')
  const side = t.arrive(async (call) => {
    await join(call)
    t.clock.advance(ms)
    await call.hangup()
  })
  expect(await causeOf(side)).toEqual(cause)
})

it('a call that is connected to a document ends with the reason of the room of that document', async () => {
  const t = roomThatEnds('expired')
  const side = t.arrive(async (call) => {
    if (call.info.to === '/public/menu') await join(call)
    else await call.connect({ steps: [[{ to: '/public/menu' }]] })
  })
  expect(await causeOf(side)).toEqual({ code: 'normal', removal: 'expired' })
  const later = t.arrive(async (call) => {
    if (call.info.to === '/public/menu') {
      await join(call)
      return
    }
    await call.connect({ steps: [[{ to: '/public/menu' }]] })
    await call.ring()
  })
  expect(await causeOf(later)).toEqual({ code: 'normal' })
})
