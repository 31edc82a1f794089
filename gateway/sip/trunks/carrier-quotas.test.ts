import { expect, it } from 'vitest'
import { FakeClock } from '../../core/clock.ts'
import { CarrierQuotas } from './carrier-quotas.ts'

const make = (ofProject = {}) => {
  const clock = new FakeClock()
  const quotas = new CarrierQuotas(
    {
      ofProject: (id) => (id === 'p1' ? ofProject : {}),
      perSubscriber: { maxCalls: 2, callsPerSecond: 100 },
      guests: { maxCalls: 1, callsPerSecond: 100 },
    },
    clock,
  )
  const take = (callId: string, projectId = 'p1') => quotas.take({ projectId, callId })
  const code = (callId: string, projectId?: string) => {
    const taken = take(callId, projectId)
    return typeof taken === 'function' ? 'taken' : taken.code
  }
  return { clock, quotas, take, code }
}
const ann = { projectId: 'p1', subscriber: { id: 'ann' } }

it('limits the simultaneous calls of a project, and releases each once', () => {
  const t = make({ maxCalls: 2 })
  const first = t.take('a')
  expect([t.code('b'), t.code('c'), t.code('c', 'p2')]).toEqual(['taken', 'over_call_limit', 'taken'])
  if (typeof first === 'function') {
    first()
    first()
  }
  expect([t.code('d'), t.code('e')]).toEqual(['taken', 'over_call_limit'])
  expect(t.take('e')).toMatchObject({ detail: 'project p1: 2 calls to carriers at once' })
})

it('limits the new calls per second of a project, and does not count rejected ones', () => {
  const t = make({ callsPerSecond: 2 })
  expect([t.code('a'), t.code('b'), t.code('c'), t.code('d')]).toEqual([
    'taken',
    'taken',
    'over_call_rate',
    'over_call_rate',
  ])
  t.clock.advance(500)
  expect([t.code('e'), t.code('f')]).toEqual(['taken', 'over_call_rate'])
})

it('limits all calls of a subscriber, and no others', () => {
  const t = make()
  const over = t.quotas.attribute('a', ann)
  t.quotas.attribute('b', ann)
  t.quotas.attribute('c', { projectId: 'p1', subscriber: { id: 'bob' } })
  expect([t.code('a'), t.code('b'), t.code('a'), t.code('c')]).toEqual([
    'taken',
    'taken',
    'over_call_limit',
    'taken',
  ])
  // A call of the project that no holder of a token began.
  expect(t.code('d')).toBe('taken')
  over()
  expect(t.quotas.attributed).toBe(2)
})

it('counts calls of an address’s handler for the caller of the address', () => {
  const t = make()
  t.quotas.attribute('a', ann)
  const take = () => t.quotas.take({ projectId: 'p1', callId: 'handled', originId: 'a' })
  expect([typeof take(), typeof take(), take()]).toMatchObject([
    'function',
    'function',
    { code: 'over_call_limit', detail: 'subscriber ann: 2 calls to carriers at once' },
  ])
})

it('prefers the limits of the subscriber to the common ones', () => {
  const t = make()
  t.quotas.attribute('a', { projectId: 'p1', subscriber: { id: 'ann', maxCalls: 1 } })
  expect([t.code('a'), t.code('a')]).toEqual(['taken', 'over_call_limit'])
})

it('limits all guests of a project together', () => {
  const t = make()
  t.quotas.attribute('a', { projectId: 'p1' })
  t.quotas.attribute('b', { projectId: 'p1' })
  t.quotas.attribute('c', { projectId: 'p2' })
  expect([t.code('a'), t.code('b'), t.code('c', 'p2')]).toEqual(['taken', 'over_call_limit', 'taken'])
})

it('takes nothing from one quota if another is exhausted', () => {
  const t = make({ maxCalls: 1 })
  t.quotas.attribute('a', ann)
  const first = t.take('x')
  expect(t.code('a')).toBe('over_call_limit')
  if (typeof first === 'function') first()
  expect([t.code('a')]).toEqual(['taken'])
})
