import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { StatusCallback } from '../../handlers/handler.ts'
import { endLostCalls } from '../calling/lost-calls.ts'
import { toStoredCall } from '../cdr/stored-calls.ts'
import { leftAs, startedCall } from '../cdr/testing/call-summaries.ts'
import { FakeClock } from '../core/clock.ts'
import { TrunklineError } from '../core/errors/catalogue.ts'
import { Metrics } from '../core/metrics.ts'
import { type CallbackRow, CallbackRows } from '../directory/callbacks.ts'
import { CallRows } from '../directory/calls.ts'
import { migrate } from '../directory/migrations/run.ts'
import { NodeRows } from '../directory/nodes.ts'
import { openSqliteStore, type Store } from '../directory/sqlite.ts'
import { CallbackOutbox } from './callback-outbox.ts'

const callback = (text: string, url = 'https://me:pw@x.example/cb?key=pw'): StatusCallback => ({
  kind: 'call-status',
  url,
  method: 'POST',
  body: { contentType: 'text/plain', text },
})
const server = 'https://x.example'
const of = (callId: string) => ({ projectId: 'p', callId })

const rowOf = (text: string, at: number): CallbackRow => ({
  id: text,
  project_id: 'p',
  call_id: `call of ${text}`,
  kind: 'recording',
  method: 'POST',
  url: 'https://x.example/',
  server,
  content_type: 'text/plain',
  body: text,
  tries: 0,
  created_at: at,
  due_at: at,
})

describe('the spool of callbacks', () => {
  let store: Store
  let rows: CallbackRows
  let clock: FakeClock
  let metrics: Metrics
  let spools: CallbackOutbox[]
  /** Whether no other gateway can have taken over the rows. */
  let sure: boolean
  let lines: string[]
  /** Received callbacks with their ids. */
  let received: { text: string; id: string }[]
  /** Answers in order; none left: 200. */
  let answers: (number | Error | Promise<number>)[]
  /** This server never answers. */
  const silent = 'https://silent.example'

  /** Ends the requests that the silent server has. */
  let ends: (() => void)[]

  beforeEach(async () => {
    store = openSqliteStore(':memory:')
    rows = new CallbackRows(store, 'n1')
    sure = true
    clock = new FakeClock()
    metrics = new Metrics()
    spools = []
    lines = []
    received = []
    answers = []
    ends = []
    await migrate(store, clock)
  })

  afterEach(async () => {
    const closed = Promise.all(spools.map((spool) => spool.close()))
    for (const end of ends) end()
    await closed
    await store.destroy()
  })

  const open = async (): Promise<CallbackOutbox> => {
    const log = pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) })
    const deliver = async ({ url, body }: Omit<StatusCallback, 'kind'>, { id }: { id: string }) => {
      received.push({ text: body?.text ?? '', id })
      if (url.startsWith(silent)) return new Promise<number>((resolve) => ends.push(() => resolve(503)))
      const answer = answers.shift() ?? 200
      if (answer instanceof Error) throw answer
      return answer
    }
    const parts = { http: { deliver }, isSure: () => sure, clock, log, metrics }
    const spool = await CallbackOutbox.open({ rows, ...parts })
    spools.push(spool)
    return spool
  }

  const outcomes = async () => {
    const { values } = await metrics.callbacks.get()
    return Object.fromEntries(values.map(({ labels, value }) => [labels.outcome, value]))
  }
  const empty = (spool: CallbackOutbox) =>
    vi.waitFor(async () => expect([spool.waiting, await rows.counts()]).toEqual([0, new Map()]))
  const drained = (spool: CallbackOutbox) =>
    vi.waitFor(async () => {
      clock.advance(1)
      expect([spool.waiting, await rows.counts()]).toEqual([0, new Map()])
    })
  const postponed = (at: number) =>
    vi.waitFor(async () => expect((await rows.next(server, 1))[0]?.due_at).toBe(clock.now() + at))

  it('tells at once, and keeps nothing of what was taken', async () => {
    const spool = await open()
    spool.notify(of('c-1'), callback('a'))
    expect(spool.waiting).toBe(1)
    await empty(spool)
    expect(received.map(({ text }) => text)).toEqual(['a'])
    expect(await outcomes()).toEqual({ delivered: 1 })
    expect(lines.join()).not.toContain('pw')
  })

  it('tells those of one call in order, and waits for no other call', async () => {
    const spool = await open()
    const { promise, resolve } = Promise.withResolvers<number>()
    answers.push(promise)
    for (const text of ['a', 'b', 'c']) spool.notify(of('c-1'), callback(text))
    await vi.waitFor(() => expect(received).toHaveLength(1))
    spool.notify(of('c-2'), callback('other'))
    await vi.waitFor(() => expect(received.map(({ text }) => text)).toEqual(['a', 'other']))
    resolve(200)
    await empty(spool)
    expect(received.map(({ text }) => text)).toEqual(['a', 'other', 'b', 'c'])
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
      expect(received).toHaveLength(4)
      expect(new Set(received.map(({ id }) => id)).size).toBe(1)
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
    expect(received).toHaveLength(1)
    const second = await open()
    expect(second.waiting).toBe(1)
    clock.advance(0)
    await empty(second)
    expect(new Set(received.map(({ text, id }) => `${text} ${id}`)).size).toBe(1)
    expect(received).toHaveLength(2)
  })

  /** Written down by an earlier run. */
  const left = (text: string, at: number, more: Partial<CallbackRow> = {}) =>
    rows.add({ ...rowOf(text, at), ...more })

  it('tries many that are due, all of them', async () => {
    for (let i = 0; i < 100; i++) await left(`e${i}`, i)
    const spool = await open()
    await drained(spool)
    expect(new Set(received.map(({ id }) => id)).size).toBe(100)
    expect(received).toHaveLength(100)
  })

  it('lets no server wait for another one, however many callbacks that one missed', async () => {
    for (let i = 0; i < 100; i++) await left(`s${i}`, i, { url: `${silent}/cb`, server: silent })
    for (let i = 0; i < 100; i++) await left(`e${i}`, 1_000 + i)
    const spool = await open()
    await vi.waitFor(async () => {
      clock.advance(1)
      expect(spool.waiting).toBe(100)
    })
    expect([ends.length, received.length]).toEqual([8, 108])
  })

  it('tells those of one call in order after a restart', async () => {
    for (const text of ['a', 'b', 'c']) await left(text, 1, { call_id: 'c-1' })
    const { promise, resolve } = Promise.withResolvers<number>()
    answers.push(promise)
    const spool = await open()
    clock.advance(0)
    await vi.waitFor(() => expect(received).toHaveLength(1))
    spool.notify(of('c-1'), callback('d'))
    await vi.waitFor(async () => expect((await rows.counts()).get(server)).toBe(4))
    expect(received).toHaveLength(1)
    resolve(200)
    await empty(spool)
    expect(received.map(({ text }) => text)).toEqual(['a', 'b', 'c', 'd'])
  })

  it('sends nothing twice at once, also after an idle time of a server', async () => {
    const waiting = () => {
      const answer = Promise.withResolvers<number>()
      answers.push(answer.promise)
      return answer
    }
    const b = waiting()
    const c = waiting()
    const d = waiting()
    await left('b', 1)
    const spool = await open()
    clock.advance(0)
    await vi.waitFor(() => expect(received).toHaveLength(1))
    spool.notify(of('c-1'), callback('c'))
    await vi.waitFor(() => expect(received).toHaveLength(2))
    b.resolve(200)
    await vi.waitFor(() => expect(spool.waiting).toBe(1))
    c.resolve(200)
    await empty(spool)
    spool.notify(of('c-1'), callback('d'))
    await vi.waitFor(() => expect(received).toHaveLength(3))
    clock.advance(0)
    for (let i = 0; i < 20; i++) await new Promise(setImmediate)
    expect(received.map(({ text }) => text)).toEqual(['b', 'c', 'd'])
    d.resolve(200)
    await empty(spool)
  })

  it('has room for others where one server takes nothing', async () => {
    vi.spyOn(rows, 'counts').mockResolvedValueOnce(new Map([[silent, 25_000]]))
    const spool = await open()
    spool.notify(of('c-1'), callback('a', `${silent}/cb`))
    expect([spool.waiting, await outcomes()]).toEqual([25_000, { dropped: 1 }])
    spool.notify(of('c-1'), callback('a'))
    await vi.waitFor(async () => expect(await outcomes()).toEqual({ dropped: 1, delivered: 1 }))
  })

  it('tries nothing again for a minute where the store fails', async () => {
    for (let i = 0; i < 20; i++) await left(`e${i}`, i)
    const remove = vi.spyOn(rows, 'remove').mockRejectedValue(new Error('disk full'))
    const spool = await open()
    for (let i = 0; i < 20; i++) {
      clock.advance(1)
      await new Promise(setImmediate)
    }
    expect([received.length, spool.waiting]).toEqual([8, 20])
    remove.mockRestore()
    clock.advance(60_000)
    await drained(spool)
    expect(received).toHaveLength(28)
  })

  it('leaves alone what is another gateway’s, until that is gone', async () => {
    const theirs = new CallbackRows(store, 'n2')
    await theirs.add(rowOf('a', 1))
    const spool = await open()
    spool.notify(of('c-1'), callback('b'))
    await empty(spool)
    expect(received.map(({ text }) => text)).toEqual(['b'])
    const nodes = new NodeRows(store)
    await nodes.seen('n2', 1)
    const taken = await nodes.takeOver('n2', 2, { heir: 'n1', ends: leftAs(clock) })
    spool.takeOver(taken!.callbacks)
    expect(spool.waiting).toBe(1)
    await drained(spool)
    expect(received.map(({ text }) => text)).toEqual(['b', 'a'])
    expect(await theirs.counts()).toEqual(new Map())
  })

  it('reports an end by one id on every node, and leaves no other node to report it', async () => {
    const toldTo = { url: server, method: 'POST', states: ['completed'], dialect: 'form' } as const
    const call = { ...startedCall({ statusTarget: toldTo }), status: 'in-progress' } as const
    const calls = new CallRows(store)
    await calls.save([toStoredCall(call, 'n1')], [])
    const spool = await open()
    spool.notify(of(call.id), { ...callback('over'), ends: call.id })
    await empty(spool)
    const again = await calls.interrupt('n1', 1, endLostCalls({ clock }))
    expect(again).toEqual({ calls: 1, callbacks: new Map() })
    spool.notify(of(call.id), { ...callback('over again'), ends: call.id })
    await empty(spool)
    expect(received.map(({ text }) => text)).toEqual(['over', 'over again'])
    expect(received[1]?.id).toBe(received[0]?.id)
    expect(received[0]?.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/)
  })

  it('begins nothing again that another gateway may have taken over, and forgets what it has', async () => {
    const spool = await open()
    answers.push(503)
    spool.notify(of('c-1'), callback('a'))
    await postponed(2_000)
    sure = false
    clock.advance(2_000)
    for (let i = 0; i < 20; i++) await new Promise(setImmediate)
    expect([received.length, spool.waiting]).toEqual([1, 1])
    const nodes = new NodeRows(store)
    await nodes.seen('n1', 1)
    await nodes.takeOver('n1', 2, { heir: 'n2', ends: leftAs(clock) })
    sure = true
    clock.advance(60_000)
    await empty(spool)
    expect(received).toHaveLength(1)
  })

  it.each(['address-refused', 'scheme', 'request'])(
    'does not come back where it may not go: %s',
    async (reason) => {
      const spool = await open()
      answers.push(new TrunklineError('document_unreachable', 'no', { reason }))
      spool.notify(of('c-1'), callback('a'))
      await empty(spool)
      expect(await outcomes()).toEqual({ refused: 1 })
    },
  )

  it('tells once what cannot be written down', async () => {
    const spool = await open()
    vi.spyOn(rows, 'add').mockRejectedValue(new Error('disk full'))
    answers.push(503)
    spool.notify(of('c-1'), callback('a'))
    await empty(spool)
    expect(await outcomes()).toEqual({ 'given-up': 1 })
  })

  it('tells nothing again that was written down although the store said that it was not', async () => {
    const spool = await open()
    const add = rows.add.bind(rows)
    vi.spyOn(rows, 'add').mockImplementation(async (row) => {
      await add(row)
      throw new Error('the answer was lost')
    })
    spool.notify(of('c-1'), callback('a'))
    await empty(spool)
    expect(received).toHaveLength(1)
  })

  it('writes those of one moment down in their order', async () => {
    const spool = await open()
    const { promise, resolve } = Promise.withResolvers<number>()
    answers.push(promise)
    for (const text of ['a', 'b', 'c']) spool.notify(of('c-1'), callback(text))
    await vi.waitFor(async () => expect((await rows.counts()).get(server)).toBe(3))
    const written = await rows.next(server, 3)
    expect(written.map(({ body }) => body)).toEqual(['a', 'b', 'c'])
    const [a, b, c] = written.map(({ created_at: at }) => at - clock.now())
    expect([a, b, c]).toEqual([0, 1, 2])
    resolve(200)
    await empty(spool)
  })

  it('tells what waits at the end, and leaves what comes later for the next run', async () => {
    const spool = await open()
    const { promise, resolve } = Promise.withResolvers<number>()
    answers.push(promise)
    for (const text of ['a', 'b']) spool.notify(of('c-1'), callback(text))
    await vi.waitFor(() => expect(received).toHaveLength(1))
    const closed = spool.close()
    spool.notify(of('c-1'), callback('c'))
    resolve(200)
    await closed
    expect(received.map(({ text }) => text)).toEqual(['a', 'b', 'c'])
    spool.notify(of('c-1'), callback('d'))
    await vi.waitFor(async () => expect((await rows.counts()).get(server)).toBe(1))
    const next = await open()
    clock.advance(0)
    await empty(next)
    expect(received.map(({ text }) => text)).toEqual(['a', 'b', 'c', 'd'])
  })

  it('leaves for the next run what it has not begun five seconds after the end', async () => {
    const spool = await open()
    const { promise, resolve } = Promise.withResolvers<number>()
    answers.push(promise)
    for (const text of ['a', 'b']) spool.notify(of('c-1'), callback(text))
    await vi.waitFor(() => expect(received).toHaveLength(1))
    const closed = spool.close()
    clock.advance(5_000)
    resolve(200)
    await closed
    expect([received.length, spool.waiting, (await rows.counts()).get(server)]).toEqual([1, 1, 1])
  })
})
