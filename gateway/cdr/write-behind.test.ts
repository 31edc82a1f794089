import { pino } from 'pino'
import { beforeEach, describe, expect, it } from 'vitest'
import { FakeClock } from '../core/clock.ts'
import { WriteBehind } from './write-behind.ts'

const settle = async () => {
  for (let i = 0; i < 20; i++) await new Promise(setImmediate)
}

const setUp = () => {
  const clock = new FakeClock()
  const batches: string[][] = []
  const lines: string[] = []
  let lost = 0
  const store: { fault?: (entries: readonly string[]) => boolean; held?: Promise<void> } = {}
  const behind = new WriteBehind<string>({
    write: async (entries) => {
      await store.held
      if (store.fault?.(entries)) throw new Error('away')
      batches.push([...entries])
    },
    clock,
    log: pino({}, { write: (line: string) => lines.push(JSON.parse(line).msg) }),
    onLost: (entries) => {
      lost += entries
    },
  })
  return { clock, batches, lines, store, behind, lost: () => lost, written: () => batches.flat() }
}

let t: ReturnType<typeof setUp>
beforeEach(() => {
  t = setUp()
})

describe('writing behind', () => {
  it('gathers what comes for a moment, and writes it together and in order', async () => {
    for (const name of ['a', 'b', 'c']) t.behind.put(name, name)
    await settle()
    expect(t.batches).toEqual([])
    t.clock.advance(100)
    await settle()
    expect([t.batches, t.behind.waiting, t.clock.running]).toEqual([[['a', 'b', 'c']], 0, 0])
  })

  it('writes the last of what came by one key, in its place', async () => {
    t.behind.put('a', 'a1')
    t.behind.put('b', 'b1')
    t.behind.put('a', 'a2')
    await t.behind.settled()
    expect(t.batches).toEqual([['a2', 'b1']])
  })

  it('writes again what changed while it was written', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    t.store.held = promise
    t.behind.put('a', 'a1')
    const settled = t.behind.settled()
    await settle()
    t.behind.put('a', 'a2')
    resolve()
    await settled
    await t.behind.settled()
    expect(t.written()).toEqual(['a1', 'a2'])
  })

  it('writes many in portions', async () => {
    for (let i = 0; i < 120; i++) t.behind.put(`${i}`, `${i}`)
    await t.behind.settled()
    expect(t.batches.map((batch) => batch.length)).toEqual([50, 50, 20])
  })

  it('is settled at once where nothing waits', async () => {
    await t.behind.settled()
    expect(t.batches).toEqual([])
  })
})

describe('a store that is away', () => {
  it('is tried again, ever more seldom, and gets everything in order', async () => {
    t.store.fault = () => true
    for (const name of ['a', 'b', 'c']) t.behind.put(name, name)
    t.clock.advance(100)
    await settle()
    for (const ms of [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000, 30_000]) {
      expect(t.clock.running).toBe(1)
      t.clock.advance(ms)
      await settle()
    }
    expect([t.written(), t.behind.waiting, t.lost()]).toEqual([[], 3, 0])
    t.store.fault = undefined
    t.clock.advance(30_000)
    await settle()
    expect([t.written().sort(), t.behind.waiting]).toEqual([['a', 'b', 'c'], 0])
    expect(t.lines).toEqual(['CDRs not written; retrying', 'CDR writes resumed'])
  })

  it('keeps those waiting who want everything to be written', async () => {
    t.store.fault = () => true
    t.behind.put('a', 'a')
    let settled = false
    const done = t.behind.settled().then(() => {
      settled = true
    })
    await settle()
    expect(settled).toBe(false)
    t.store.fault = undefined
    t.behind.put('b', 'b')
    t.clock.advance(1_000)
    await done
    expect(t.written()[0]).toBe('a')
  })

  it('loses the oldest entries where too many wait, and says so', async () => {
    t.store.fault = () => true
    for (let i = 0; i < 20_010; i++) t.behind.put(`${i}`, `${i}`)
    expect([t.behind.waiting, t.lost()]).toEqual([20_000, 10])
    expect(t.lines).toEqual(['CDR writes delayed by a slow store'])
    t.store.fault = undefined
    await t.behind.settled()
    expect([t.written().length, t.written()[0]]).toEqual([20_000, '10'])
  })

  it('does not keep a process from ending', async () => {
    t.store.fault = () => true
    t.behind.put('a', 'a')
    const closed = t.behind.close(5_000)
    await settle()
    t.clock.advance(5_000)
    await closed
    expect(t.lines.at(-1)).toBe('CDRs not written before shutdown')
    expect(t.clock.running).toBe(0)
  })
})

it('is not blocked by an entry that the store refuses, which is left out in the end', async () => {
  t.store.fault = (entries) => entries.includes('bad')
  t.behind.put('bad', 'bad')
  for (let i = 0; i < 12; i++) {
    t.behind.put(`${i}`, `${i}`)
    t.clock.advance(30_000)
    await settle()
    t.clock.advance(30_000)
    await settle()
  }
  await t.behind.settled()
  expect(t.written()).toEqual(Array.from({ length: 12 }, (_, i) => `${i}`))
  expect([t.behind.waiting, t.lost()]).toEqual([0, 1])
  expect(t.lines).toContain('CDR rejected by the store')
})
