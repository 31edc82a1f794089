import { describe, expect, it } from 'vitest'
import { FakeClock } from '../core/clock.ts'
import { TestStore } from '../directory/testing/directories.ts'
import { openTokens } from './open-tokens.ts'

const store = new TestStore()
const secret = new Uint8Array(32).fill(3)

/** A directory with a subscriber of the API, a listener for their tokens, and one token. */
const opened = async () => {
  const directory = await store.open()
  const clock = new FakeClock(1_700_000_000_000)
  const { tokens } = await openTokens(directory, { secret, clock })
  const subscriber = await directory.resources.create({
    projectId: 'project-1',
    type: 'subscriber',
    displayName: 'Nora',
    password: 'first-secret',
    details: { email: 'nora@example.test', mayDialOut: false },
  })
  const { token } = await tokens.issue(subscriber, 60)
  let received = 0
  tokens.onRevocation(subscriber.id, () => received++)
  const isGood = () =>
    tokens.verify(token).then(
      () => true,
      () => false,
    )
  return { directory, subscriber, isGood, received: () => received }
}

describe('tokens of a directory', () => {
  it('stay good when something else about their subscriber changes', async () => {
    const { directory, subscriber, isGood } = await opened()
    await directory.resources.update('project-1', 'subscriber', subscriber.id, { displayName: 'Other' })
    expect(await isGood()).toBe(true)
  })

  it.each([
    [
      'is removed',
      ({ directory, subscriber }) => directory.resources.remove('project-1', 'subscriber', subscriber.id),
    ],
    [
      'is disabled',
      ({ directory, subscriber }) =>
        directory.changeSubscriber('project-1', subscriber.id, { disabled: true }),
    ],
    [
      'has all of them taken back',
      ({ directory, subscriber }) =>
        directory.changeSubscriber('project-1', subscriber.id, { tokensAfter: 1_700_000_000_001 }),
    ],
  ] satisfies [string, (made: Awaited<ReturnType<typeof opened>>) => Promise<void>][])(
    'end, and their listeners are notified, when their subscriber %s',
    async (_name, act) => {
      const made = await opened()
      expect(await made.isGood()).toBe(true)
      await act(made)
      expect(await made.isGood()).toBe(false)
      expect(made.received()).toBeGreaterThan(0)
    },
  )
})
