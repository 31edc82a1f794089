import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { StatusCallback } from '../../handlers/handler.ts'
import { FakeClock } from '../clock.ts'
import { CallbackRows } from '../directory/callbacks.ts'
import { migrate } from '../directory/migrations.ts'
import { openSqliteStore, type Store } from '../directory/sqlite.ts'
import { Metrics } from '../metrics.ts'
import { Spool } from './spool.ts'

const callback = (text: string): StatusCallback => ({
  ...{ kind: 'call-status', url: 'https://me:pw@x.example/cb?key=pw', method: 'POST' },
  body: { contentType: 'text/plain', text },
})
const of = (callId: string) => ({ projectId: 'p', callId })

describe('the spool of callbacks', () => {
  let store: Store
  let rows: CallbackRows
  let clock: FakeClock
  let metrics: Metrics
  let spools: Spool[]
  let lines: string[]
  /** What was told, and by which id. */
  let told: { text: string; id: string }[]
  /** Answers in order; none left: 200. */
  let answers: (number | Error | Promise<number>)[]

  beforeEach(async () => {
    store = openSqliteStore(':memory:')
    rows = new CallbackRows(store)
    clock = new FakeClock()
    metrics = new Metrics()
    ;[spools, lines, told, answers] = [[], [], [], []]
    await migrate(store, clock)
  })

  afterEach(async () => {
    for (const spool of spools) await spool.close()
    await store.destroy()
  })

  const open = async (): Promise<Spool> => {
    const log = pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) })
    const deliver = async ({ body }: Omit<StatusCallback, 'kind'>, { id }: { id: string }) => {
      told.push({ text: body?.text ?? '', id })
      const answer = answers.shift() ?? 200
      if (answer instanceof Error) throw answer
      return answer
    }
    const spool = await Spool.open({ rows, http: { deliver }, clock, log, metrics })
    spools.push(spool)
    return spool
  }

  const outcomes = async () => {
    const { values } = await metrics.callbacks.get()
    return Object.fromEntries(values.map(({ labels, value }) => [labels.outcome, value]))
  }
  const empty = (spool: Spool) =>
    vi.waitFor(async () => expect([spool.waiting, await rows.count()]).toEqual([0, 0]))
  const postponed = (at: number) =>
    vi.waitFor(async () => expect((await rows.next(1))[0]?.due_at).toBe(clock.now() + at))

  it('tells at once, and keeps nothing of what was taken', async () => {
    const spool = await open()
    spool.notify(of('c-1'), callback('a'))
    expect(spool.waiting).toBe(1)
    await empty(spool)
    expect(told.map(({ text }) => text)).toEqual(['a'])
    expect(await outcomes()).toEqual({ delivered: 1 })
    expect(lines.join()).not.toContain('pw')
  })

  it('tells those of one call in order, and waits for no other call', async () => {
    const spool = await open()
    const { promise, resolve } = Promise.withResolvers<number>()
    answers.push(promise)
    for (const text of ['a', 'b', 'c']) spool.notify(of('c-1'), callback(text))
    await vi.waitFor(() => expect(told).toHaveLength(1))
    spool.notify(of('c-2'), callback('other'))
    await vi.waitFor(() => expect(told.map(({ text }) => text)).toEqual(['a', 'other']))
    resolve(200)
    await empty(spool)
    expect(told.map(({ text }) => text)).toEqual(['a', 'other', 'b', 'c'])
  })

  it.each([500, 429, 408, new Error('The connection failed.')])(
    'comes back after %s, by the same id, ever more seldom',
    async (failure) => {
      const spool = await open()
      answers.push(failure, failure, failure)
      spool.notify(of('c-1'), callback('a'))
      for (const wait of [2_000, 10_000, 60_000]) {
        await postponed(wait)
        clock.advance(wait)
      }
      await empty(spool)
      expect(told).toHaveLength(4)
      expect(new Set(told.map(({ id }) => id)).size).toBe(1)
      expect(await outcomes()).toEqual({ later: 3, delivered: 1 })
    },
  )

  it('gives up after the last try', async () => {
    const spool = await open()
    answers.push(...Array.from({ length: 6 }, () => 503))
    spool.notify(of('c-1'), callback('a'))
    for (const wait of [2_000, 10_000, 60_000, 600_000, 3_600_000]) {
      await postponed(wait)
      clock.advance(wait)
    }
    await empty(spool)
    expect(await outcomes()).toEqual({ later: 5, 'given-up': 1 })
  })

  it('does not come back after a refusal', async () => {
    const spool = await open()
    answers.push(404)
    spool.notify(of('c-1'), callback('a'))
    await empty(spool)
    expect(await outcomes()).toEqual({ refused: 1 })
  })

  it('goes on after a restart with what was not taken', async () => {
    const first = await open()
    answers.push(503)
    first.notify(of('c-1'), callback('a'))
    await postponed(2_000)
    await first.close()
    clock.advance(60_000)
    expect(told).toHaveLength(1)
    const second = await open()
    expect(second.waiting).toBe(1)
    clock.advance(0)
    await empty(second)
    expect(new Set(told.map(({ text, id }) => `${text} ${id}`)).size).toBe(1)
    expect(told).toHaveLength(2)
  })

  it('tries many that are due, all of them', async () => {
    for (let i = 0; i < 100; i++)
      await rows.add({
        ...{ id: `e${i}`, project_id: 'p', call_id: `c${i}`, kind: 'recording', method: 'GET' },
        ...{ url: 'https://x.example/', content_type: null, body: null, tries: 1, created_at: i, due_at: i },
      })
    const spool = await open()
    await vi.waitFor(async () => {
      clock.advance(1)
      expect([spool.waiting, await rows.count()]).toEqual([0, 0])
    })
    expect(new Set(told.map(({ id }) => id)).size).toBe(100)
    expect(told).toHaveLength(100)
  })

  it('tells once what cannot be written down', async () => {
    const spool = await open()
    vi.spyOn(rows, 'add').mockRejectedValue(new Error('disk full'))
    answers.push(503)
    spool.notify(of('c-1'), callback('a'))
    await empty(spool)
    expect(await outcomes()).toEqual({ 'given-up': 1 })
  })

  it('drops what comes after the end', async () => {
    const spool = await open()
    await spool.close()
    spool.notify(of('c-1'), callback('a'))
    expect(await outcomes()).toEqual({ dropped: 1 })
    expect(spool.waiting).toBe(0)
  })
})
