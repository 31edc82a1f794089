import { expect, it } from 'vitest'
import { FakeCall } from '../testing/fake-call.ts'
import { settle } from '../testing/fake-timers.ts'
import { callTimers, within } from './timers.ts'

const begin = () => {
  const call = new FakeCall()
  const waits: PromiseWithResolvers<void>[] = []
  call.during.set('sleep', () => {
    const wait = Promise.withResolvers<void>()
    waits.push(wait)
    return wait.promise
  })
  return { call, waits, timers: callTimers(call) }
}

it('fires a timer of a call after its time, unless it was cancelled', async () => {
  const { call, waits, timers } = begin()
  const fired: string[] = []
  timers.after(100, () => fired.push('first'))
  timers.after(200, () => fired.push('second')).cancel()
  for (const { resolve } of waits) resolve()
  await settle()
  expect([call.verbs, fired]).toEqual([
    [
      ['sleep', 100],
      ['sleep', 200],
    ],
    ['first'],
  ])
})

it('fires no timer of a call that has ended', async () => {
  const { waits, timers } = begin()
  const fired: string[] = []
  timers.after(100, () => fired.push('late'))
  waits[0]?.reject(new Error('the call has ended'))
  await settle()
  expect(fired).toEqual([])
})

it('waits for a promise no longer than the time', async () => {
  const { waits, timers } = begin()
  expect(await within(timers, 100, Promise.resolve('soon'))).toBe('soon')
  const late = within(timers, 100, new Promise(() => {}))
  waits[1]?.resolve()
  expect(await late).toBeUndefined()
})
