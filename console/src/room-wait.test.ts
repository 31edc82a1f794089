import { ClientError } from '@trunkline/client'
import { describe, expect, it, vi } from 'vitest'
import { phoneRig } from './testing/fakes.ts'

const locked = new ClientError('room_locked', 'The room is locked.')
const lounge = '/public/lounge?channel=video'

/** Dials a room that rejects the call. */
const waiting = async () => {
  const rig = await phoneRig()
  await rig.phone.dial(lounge, { name: 'Lounge', watches: true })
  rig.timers.clear()
  rig.calls[0]!.end(locked)
  const turn = async () => {
    await vi.dynamicImportSettled()
    // The latest timer: earlier ones limit the ringing.
    const run = [...rig.timers].at(-1)
    rig.timers.clear()
    run?.()
    for (let i = 0; i < 10; i++) await Promise.resolve()
  }
  await vi.dynamicImportSettled()
  return { ...rig, turn }
}

describe('a room that is locked', () => {
  it('is shown without a warning, and dialled again by itself until it opens', async () => {
    const { phone, calls, dialled, recents, turn } = await waiting()
    expect(phone.rooms?.room).toEqual({ name: 'Lounge', number: lounge, code: 'room_locked', video: false })
    expect([phone.notice, phone.current]).toEqual([undefined, undefined])
    await turn()
    expect(phone.current?.call.id).toBe(calls[1]?.id)
    expect(phone.rooms?.room).toBeDefined()
    // Each try would open the microphone in vain.
    expect(dialled[1]).toEqual({ ...dialled[0], devicesAfterAnswer: true })
    calls[1]!.end(locked)
    await turn()
    calls[2]!.become('active')
    expect([phone.rooms?.room, phone.current?.name]).toEqual([undefined, 'Lounge'])
    expect(recents.list).toHaveLength(1)
  })

  it('is dialled again at once on request', async () => {
    const { phone, calls } = await waiting()
    phone.rooms?.tryAgain()
    for (let i = 0; i < 10; i++) await Promise.resolve()
    expect(calls).toHaveLength(2)
  })

  it('is left alone when the user stops, calls elsewhere, or the room fails for another reason', async () => {
    const stopped = await waiting()
    stopped.phone.rooms?.stop()
    await stopped.turn()
    expect(stopped.calls).toHaveLength(1)
    const elsewhere = await waiting()
    await elsewhere.phone.dial('/public/bob')
    expect(elsewhere.phone.rooms?.room).toBeUndefined()
    const failed = await waiting()
    await failed.turn()
    failed.calls[1]!.end(new ClientError('not_permitted', ''))
    expect(failed.phone.rooms?.room).toBeUndefined()
    expect(failed.phone.notice?.text).toBe('You are not allowed to call this address.')
  })
})
