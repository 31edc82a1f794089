import { describe, expect, it } from 'vitest'
import { ClientError, endOf, refusalOf } from './errors.ts'

/** Pattern of a sentence for users: a capital letter, several words and a full stop. */
const sentence = /^[A-Z][a-z]+ .*\.$/

describe('the reason of a call that has ended', () => {
  it.each([
    ['NORMAL_CLEARING', 'normal'],
    ['USER_BUSY', 'busy'],
    ['CALL_REJECTED', 'declined'],
    ['NO_ANSWER', 'no_answer'],
    ['ORIGINATOR_CANCEL', 'canceled'],
    ['LOSE_RACE', 'answered_elsewhere'],
    ['SUBSCRIBER_ABSENT', 'not_online'],
    ['UNALLOCATED_NUMBER', 'unknown_address'],
    ['SWITCH_CONGESTION', 'failed'],
  ])('has a sentence as its message: %s', (cause, code) => {
    const ended = endOf(cause, 1)
    expect(ended).toMatchObject({ code, causeName: cause, serverCode: '1' })
    expect(ended.message).toMatch(sentence)
    const refused = refusalOf(new ClientError('server', cause, { serverCode: '17' }))
    expect(refused).toMatchObject({ code, causeName: cause, message: ended.message })
  })

  it('names the cause if no sentence is known', () => {
    expect(endOf('SWITCH_CONGESTION', 42).message).toContain('SWITCH_CONGESTION')
  })

  it('is that of the room which rejects the call, before its cause', () => {
    expect(endOf('CALL_REJECTED', 21, 'room_locked')).toMatchObject({
      code: 'room_locked',
      causeName: 'CALL_REJECTED',
      message: 'The room is locked.',
    })
    expect(endOf('NORMAL_CLEARING', 16, 'room_removed').code).toBe('room_removed')
    expect(endOf('USER_BUSY', 17, 'of another server').code).toBe('busy')
  })

  it('has the message of the server if present', () => {
    const refused = refusalOf(new ClientError('server', 'The address is not there.', { serverCode: '404' }))
    expect(refused).toMatchObject({ code: 'unknown_address', message: 'The address is not there.' })
    expect(refused.causeName).toBeUndefined()
  })
})
