import { expect, it } from 'vitest'
import { byeOf } from './bye-causes.ts'

it('a bye has the reason of a room that rejects the call or removes the member, and none for other ends', () => {
  expect(byeOf({ code: 'room_locked' })).toEqual({
    cause: 'CALL_REJECTED',
    causeCode: 21,
    reason: 'room_locked',
  })
  expect(byeOf({ code: 'room_full' })).toMatchObject({ cause: 'USER_BUSY', reason: 'room_full' })
  expect(byeOf({ code: 'normal', removal: 'removed' })).toMatchObject({
    causeCode: 16,
    reason: 'room_removed',
  })
  expect(byeOf({ code: 'normal' })).not.toHaveProperty('reason')
  expect(byeOf({ code: 'declined' })).toEqual({ cause: 'CALL_REJECTED', causeCode: 21 })
})
