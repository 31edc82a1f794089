import { expect, it } from 'vitest'
import { FakeClock } from '../clock.ts'
import type { Subscriber } from '../directory/types.ts'
import { SignIn } from './sign-in.ts'

const alice = { id: 's1' } as Subscriber

/** Alice has one password with two projects. */
const open = (signIn = async (_project: string, _email: string, password: string) => password) => {
  const directory = {
    signIn: async (...given: [string, string, string]) =>
      (await signIn(...given)) === 'right' ? alice : undefined,
  }
  const parts = new SignIn({ directory, clock: new FakeClock(), log: { warn: () => {} } })
  let addresses = 0
  return (projectId: string, password: string, ip = `192.0.2.${addresses++}`) =>
    parts.attempt({ projectId, email: 'Alice@example.test', password }, { ip, id: 'r1' })
}

it('counts an e-mail for each project: who has the same one elsewhere neither locks it nor forgives', async () => {
  const attempt = open()
  for (let i = 0; i < 10; i++) expect(await attempt('p1', 'wrong')).toEqual({ refused: 'unauthorized' })
  expect(await attempt('p2', 'right')).toEqual({ subscriber: alice })
  expect(await attempt('p1', 'right')).toMatchObject({ refused: 'too_many_requests' })
})

it('checks so many passwords at once, wherever they come from; who comes then is to come again', async () => {
  const { promise, resolve } = Promise.withResolvers<string>()
  const attempt = open(() => promise)
  // An e-mail of each project.
  const waiting = Array.from({ length: 100 }, (_, i) => attempt(`p${i}`, 'right'))
  expect(await attempt('p100', 'right')).toEqual({ refused: 'too_many_requests', waitMs: 2_000 })
  resolve('right')
  expect(await Promise.all(waiting)).toContainEqual({ subscriber: alice })
  expect(await attempt('p100', 'right')).toEqual({ subscriber: alice })
})
