import { expect, it } from 'vitest'
import { FakeClock } from '../../../core/clock.ts'
import { TrunklineError } from '../../../core/errors/catalogue.ts'
import { type TokenSubscriberDeps, TokenSubscribers } from './token-subscribers.ts'

it('revokes tokens that were renewed while the store was slow', async () => {
  const clock = new FakeClock()
  let tokensAfter = 0
  const subscribers = new TokenSubscribers({
    clock,
    resources: { find: () => ({}) },
    refreshRows: { removeOf: async () => clock.advance(5_000) },
    directory: {
      changeSubscriber: async (_project: string, _id: string, change: { tokensAfter: number }) => {
        tokensAfter = change.tokensAfter
      },
    },
  } as unknown as TokenSubscriberDeps)
  await subscribers.revokeAll('p1', 's1')
  // A token of the last moment before nothing was renewed any more is older than that.
  expect(tokensAfter).toBeGreaterThan(clock.now())
})

it('rejects with email_taken if another gateway has just created the subscriber', async () => {
  const resources = {
    findSubscriber: () => undefined,
    create: async () => {
      throw new TrunklineError('email_taken')
    },
  }
  const subscribers = new TokenSubscribers({ resources } as unknown as TokenSubscriberDeps)
  await expect(subscribers.ensure('p1', { reference: 'new@example.test' })).rejects.toMatchObject({
    code: 'email_taken',
  })
})
