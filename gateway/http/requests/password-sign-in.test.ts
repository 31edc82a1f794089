import { expect, it } from 'vitest'
import { FakeClock } from '../../core/clock.ts'
import type { Subscriber } from '../../directory/model/callers.ts'
import { PasswordSignIn } from './password-sign-in.ts'

const alice = { id: 's1' } as Subscriber

/** Alice has one password with two projects. */
const open = (signIn = async (_project: string, _email: string, password: string) => password) => {
  const directory = {
    signIn: async (...given: [string, string, string]) =>
      (await signIn(...given)) === 'right' ? alice : undefined,
  }
  const clock = new FakeClock()
  const deps = new PasswordSignIn({ directory, clock, log: { warn: () => {} } })
  const attempt = (projectId: string, password: string, ip = '192.0.2.1') =>
    deps.attempt({ projectId, email: 'Alice@example.test', password }, { ip, id: 'r1' })
  return { attempt, clock }
}

it('counts attempts on an e-mail for each project alone', async () => {
  const { attempt } = open()
  for (let i = 0; i < 10; i++) expect(await attempt('p1', 'wrong')).toEqual({ refused: 'unauthorized' })
  expect(await attempt('p2', 'right')).toEqual({ subscriber: alice })
  expect(await attempt('p1', 'right')).toMatchObject({ refused: 'too_many_requests' })
})

it('limits simultaneous password checks of all networks, and rejects more with a time to wait', async () => {
  const { promise, resolve } = Promise.withResolvers<string>()
  const { attempt } = open(() => promise)
  // An e-mail of each project.
  const waiting = Array.from({ length: 100 }, (_, i) => attempt(`p${i}`, 'right', `192.0.2.${i}`))
  expect(await attempt('p100', 'right')).toEqual({ refused: 'too_many_requests', waitMs: 2_000 })
  resolve('right')
  expect(await Promise.all(waiting)).toContainEqual({ subscriber: alice })
  expect(await attempt('p100', 'right')).toEqual({ subscriber: alice })
})

it('only delays a sign-in after attempts of other networks on its e-mail', async () => {
  const { attempt, clock } = open()
  for (let i = 0; i < 10; i++) await attempt('p1', 'wrong', `198.51.100.${i}`)
  let isOver = false
  const late = attempt('p1', 'right', '192.0.2.1').finally(() => {
    isOver = true
  })
  clock.advance(1_999)
  await new Promise(setImmediate)
  expect(isOver).toBe(false)
  clock.advance(1)
  expect(await late).toEqual({ subscriber: alice })
  // A success from elsewhere does not make the attempts of strangers faster again.
  void attempt('p1', 'wrong', '198.51.100.1')
  await new Promise(setImmediate)
  expect(clock.running).toBe(1)
  clock.advance(60_000)
  expect(await attempt('p1', 'right')).toEqual({ subscriber: alice })
})
