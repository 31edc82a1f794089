import { expect, it } from 'vitest'
import { ClientError } from './errors.ts'
import { Invite, type InviteActions } from './invite.ts'
import type { IncomingInvite } from './types.ts'

const invited = (actions: Partial<InviteActions> = {}) => {
  const events: string[] = []
  const invite = new Invite({ callID: 'c1' } as IncomingInvite, {
    makeCall: () => ({ answer: async () => {} }) as never,
    decline: async () => {},
    gone: () => events.push('gone'),
    ...actions,
  })
  void invite.settled.then(() => events.push('settled'))
  return { invite, events }
}

it.each([
  ['accepted', (invite: Invite) => invite.accept()],
  ['rejected', (invite: Invite) => invite.reject()],
  ['given up', async (invite: Invite) => invite.cancel(new ClientError('canceled', 'gone'))],
])('an invite that was %s is settled', async (_, decide) => {
  const { invite, events } = invited()
  await decide(invite)
  await invite.settled
  expect(events).toEqual(['gone', 'settled'])
})

it('an invite whose microphone failed rings on', async () => {
  const answer = () => Promise.reject(new ClientError('microphone_refused', 'no'))
  const { invite, events } = invited({ makeCall: () => ({ answer }) as never })
  await expect(invite.accept()).rejects.toThrow('no')
  expect(events).toEqual([])
  expect(invite.isPending).toBe(true)
})
