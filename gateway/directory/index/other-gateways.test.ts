import { beforeEach, expect, it } from 'vitest'
import { FakeClock } from '../../core/clock.ts'
import type { News } from '../store/engine.ts'
import { OtherGateways } from './other-gateways.ts'

let clock: FakeClock
let readings: unknown[]
/** Whether the store can be read. */
let away: boolean
let others: OtherGateways

beforeEach(() => {
  clock = new FakeClock()
  readings = []
  away = false
  const read = async (what: unknown) => {
    readings.push(what)
    if (away) throw new Error('away')
  }
  const refresh = { changed: read, everything: () => read('all') }
  others = new OtherGateways({ refresh, clock, log: { error: () => {} } })
})

const settled = () => new Promise((resolve) => setImmediate(resolve))
const later = async () => {
  clock.advance(1_000)
  await settled()
}

it('passes on what changed as soon as it is read', async () => {
  const received: News[] = []
  others.on(async (news) => void received.push(news))
  const news = { kind: 'resource', id: 'r1' }
  others.take(news)
  expect(received).toEqual([])
  await settled()
  expect([readings, received]).toEqual([[{ resources: ['r1'] }], [news]])
  expect(clock.running).toBe(0)
})

it('reads everything until it can, where something could not be read', async () => {
  const received: News[] = []
  others.on(async (news) => void received.push(news))
  away = true
  others.take({ kind: 'project', id: 'p1' })
  await settled()
  await later()
  expect(received).toEqual([])
  away = false
  await later()
  expect(readings).toEqual([{ projects: true }, 'all', 'all'])
  expect(received).toEqual(['anything'])
  expect(clock.running).toBe(0)
})

it('tells a listener again that could not take it', async () => {
  const received: News[] = []
  others.on(async (news) => {
    if (received.push(news) === 1) throw new Error('away')
  })
  others.take({ kind: 'revoked_token', id: 't1' })
  await settled()
  await later()
  expect(received).toEqual([{ kind: 'revoked_token', id: 't1' }, 'anything'])
})

it('leaves no timer behind', async () => {
  others.missed()
  others.missed()
  expect(clock.running).toBe(1)
  others.close()
  others.missed()
  expect(clock.running).toBe(0)
})
