import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { StatusCallback } from '../../handlers/handler.ts'
import { endLostCalls } from '../calling/lost-calls.ts'
import { toStoredCall } from '../cdr/stored-calls.ts'
import { leftAs, startedCall } from '../cdr/testing/call-summaries.ts'
import { FakeClock } from '../core/clock.ts'
import { TrunklineError } from '../core/errors/catalogue.ts'
import { Metrics } from '../core/metrics.ts'
import { migrate } from '../directory/migrations/run.ts'
import { openSqliteStore, type Store } from '../directory/store/sqlite.ts'
import { type CallbackRow, CallbackRows } from '../directory/tables/callbacks.ts'
import { CallRows } from '../directory/tables/calls.ts'
import { NodeRows } from '../directory/tables/nodes.ts'
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

describe('the outbox of callbacks', () => {
  let store: Store
  let rows: CallbackRows
  let clock: FakeClock
  let metrics: Metrics
  let outboxes: CallbackOutbox[]
  /** Whether no other gateway can have taken over the rows. */
  let isSure: boolean
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
    isSure = true
    clock = new FakeClock()
    metrics = new Metrics()
    outboxes = []
    lines = []
    received = []
    answers = []
    ends = []
    await migrate(store, clock)
  })

  afterEach(async () => {
    const closed = Promise.all(outboxes.map((outbox) => outbox.close()))
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
    const parts = { http: { deliver }, isSure: () => isSure, clock, log, metrics }
    const outbox = await CallbackOutbox.open({ rows, ...parts })
    outboxes.push(outbox)
    return outbox
  }

  const outcomes = async () => {
    const { values } = await metrics.callbacks.get()
    return Object.fromEntries(values.map(({ labels, value }) => [labels.outcome, value]))
  }
  const empty = (outbox: CallbackOutbox) =>
    vi.waitFor(async () => expect([outbox.waiting, await rows.counts()]).toEqual([0, new Map()]))
  const drained = (outbox: CallbackOutbox) =>
    vi.waitFor(async () => {
      clock.advance(1)
      expect([outbox.waiting, await rows.counts()]).toEqual([0, new Map()])
    })
  const postponed = (at: number) =>
    vi.waitFor(async () => expect((await rows.next(server, 1))[0]?.due_at).toBe(clock.now() + at))

  it('sends a callback at once, and removes it after its delivery', async () => {
    const outbox = await open()
    outbox.notify(of('c-1'), callback('a'))
    expect(outbox.waiting).toBe(1)
    await empty(outbox)
    expect(received.map(({ text }) => text)).toEqual(['a'])
    expect(await outcomes()).toEqual({ delivered: 1 })
    expect(lines.join()).not.toContain('pw')
  })

  it('stores no callback of best effort, and sends it once', async () => {
    const outbox = await open()
    answers.push(503)
    outbox.notify(of('c-1'), { ...callback('debug'), isBestEffort: true })
    expect([outbox.waiting, outbox.unstored, (await rows.counts()).size]).toEqual([0, 1, 0])
    await vi.waitFor(() => expect(outbox.unstored).toBe(0))
    clock.advance(3_600_000)
    expect(received.map(({ text }) => text)).toEqual(['debug'])
    expect(await outcomes()).toEqual({ 'given-up': 1 })
    await outbox.close()
    outbox.notify(of('c-1'), { ...callback('late'), isBestEffort: true })
    expect([await outcomes(), (await rows.counts()).size]).toEqual([{ 'given-up': 1, dropped: 1 }, 0])
  })

  it('sends the callbacks of one call in order, independent of other calls', async () => {
    const outbox = await open()
    const { promise, resolve } = Promise.withResolvers<number>()
    answers.push(promise)
    for (const text of ['a', 'b', 'c']) outbox.notify(of('c-1'), callback(text))
    await vi.waitFor(() => expect(received).toHaveLength(1))
    outbox.notify(of('c-2'), callback('other'))
    await vi.waitFor(() => expect(received.map(({ text }) => text)).toEqual(['a', 'other']))
    resolve(200)
    await empty(outbox)
    expect(received.map(({ text }) => text)).toEqual(['a', 'other', 'b', 'c'])
  })

  it.each([500, 429, 408, new Error('The connection failed.')])(
    'retries after %s with the same id and growing delays',
    async (failure) => {
      const outbox = await open()
      answers.push(failure, failure, failure)
      outbox.notify(of('c-1'), callback('a'))
      for (const wait of [2_000, 10_000, 60_000]) {
        await postponed(wait)
        clock.advance(wait)
      }
      await empty(outbox)
      expect(received).toHaveLength(4)
      expect(new Set(received.map(({ id }) => id)).size).toBe(1)
      expect(await outcomes()).toEqual({ later: 3, delivered: 1 })
    },
  )

  it('gives a callback up after the last attempt', async () => {
    const outbox = await open()
    answers.push(...Array.from({ length: 6 }, () => 503))
    outbox.notify(of('c-1'), callback('a'))
    for (const wait of [2_000, 10_000, 60_000, 600_000, 3_600_000]) {
      await postponed(wait)
      clock.advance(wait)
    }
    await empty(outbox)
    expect(await outcomes()).toEqual({ later: 5, 'given-up': 1 })
  })

  it('does not retry after a rejection', async () => {
    const outbox = await open()
    answers.push(404)
    outbox.notify(of('c-1'), callback('a'))
    await empty(outbox)
    expect(await outcomes()).toEqual({ refused: 1 })
  })

  it('continues with undelivered callbacks after a restart', async () => {
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

  it('retries many due callbacks, all of them', async () => {
    for (let i = 0; i < 100; i++) await left(`e${i}`, i)
    const outbox = await open()
    await drained(outbox)
    expect(new Set(received.map(({ id }) => id)).size).toBe(100)
    expect(received).toHaveLength(100)
  })

  it('sends to each server independent of the failed callbacks of another', async () => {
    for (let i = 0; i < 100; i++) await left(`s${i}`, i, { url: `${silent}/cb`, server: silent })
    for (let i = 0; i < 100; i++) await left(`e${i}`, 1_000 + i)
    const outbox = await open()
    await vi.waitFor(async () => {
      clock.advance(1)
      expect(outbox.waiting).toBe(100)
    })
    expect([ends.length, received.length]).toEqual([8, 108])
  })

  it('sends the callbacks of one call in order after a restart', async () => {
    for (const text of ['a', 'b', 'c']) await left(text, 1, { call_id: 'c-1' })
    const { promise, resolve } = Promise.withResolvers<number>()
    answers.push(promise)
    const outbox = await open()
    clock.advance(0)
    await vi.waitFor(() => expect(received).toHaveLength(1))
    outbox.notify(of('c-1'), callback('d'))
    await vi.waitFor(async () => expect((await rows.counts()).get(server)).toBe(4))
    expect(received).toHaveLength(1)
    resolve(200)
    await empty(outbox)
    expect(received.map(({ text }) => text)).toEqual(['a', 'b', 'c', 'd'])
  })

  it('never sends a callback twice at once, also after an idle time of a server', async () => {
    const waiting = () => {
      const answer = Promise.withResolvers<number>()
      answers.push(answer.promise)
      return answer
    }
    const b = waiting()
    const c = waiting()
    const d = waiting()
    await left('b', 1)
    const outbox = await open()
    clock.advance(0)
    await vi.waitFor(() => expect(received).toHaveLength(1))
    outbox.notify(of('c-1'), callback('c'))
    await vi.waitFor(() => expect(received).toHaveLength(2))
    b.resolve(200)
    await vi.waitFor(() => expect(outbox.waiting).toBe(1))
    c.resolve(200)
    await empty(outbox)
    outbox.notify(of('c-1'), callback('d'))
    await vi.waitFor(() => expect(received).toHaveLength(3))
    clock.advance(0)
    for (let i = 0; i < 20; i++) await new Promise(setImmediate)
    expect(received.map(({ text }) => text)).toEqual(['b', 'c', 'd'])
    d.resolve(200)
    await empty(outbox)
  })

  it('has room for other servers if one server never answers', async () => {
    vi.spyOn(rows, 'counts').mockResolvedValueOnce(new Map([[silent, 25_000]]))
    const outbox = await open()
    outbox.notify(of('c-1'), callback('a', `${silent}/cb`))
    expect([outbox.waiting, await outcomes()]).toEqual([25_000, { dropped: 1 }])
    outbox.notify(of('c-1'), callback('a'))
    await vi.waitFor(async () => expect(await outcomes()).toEqual({ dropped: 1, delivered: 1 }))
  })

  it('retries nothing for a minute after a failure of the store', async () => {
    for (let i = 0; i < 20; i++) await left(`e${i}`, i)
    const remove = vi.spyOn(rows, 'remove').mockRejectedValue(new Error('disk full'))
    const outbox = await open()
    for (let i = 0; i < 20; i++) {
      clock.advance(1)
      await new Promise(setImmediate)
    }
    expect([received.length, outbox.waiting]).toEqual([8, 20])
    remove.mockRestore()
    clock.advance(60_000)
    await drained(outbox)
    expect(received).toHaveLength(28)
  })

  it('leaves alone the callbacks of another gateway until that gateway has stopped', async () => {
    const theirs = new CallbackRows(store, 'n2')
    await theirs.add(rowOf('a', 1))
    const outbox = await open()
    outbox.notify(of('c-1'), callback('b'))
    await empty(outbox)
    expect(received.map(({ text }) => text)).toEqual(['b'])
    const nodes = new NodeRows(store)
    await nodes.seen('n2', 1)
    const taken = await nodes.takeOver('n2', 2, { heir: 'n1', ends: leftAs(clock) })
    outbox.takeOver(taken!.callbacks)
    expect(outbox.waiting).toBe(1)
    await drained(outbox)
    expect(received.map(({ text }) => text)).toEqual(['b', 'a'])
    expect(await theirs.counts()).toEqual(new Map())
  })

  it('reports an end by one id on every node, and leaves no other node to report it', async () => {
    const toldTo = { url: server, method: 'POST', states: ['completed'], dialect: 'form' } as const
    const call = { ...startedCall({ statusTarget: toldTo }), status: 'in-progress' } as const
    const calls = new CallRows(store)
    await calls.save([toStoredCall(call, 'n1')], [])
    const outbox = await open()
    outbox.notify(of(call.id), { ...callback('over'), ends: call.id })
    await empty(outbox)
    const again = await calls.interrupt('n1', 1, endLostCalls({ clock }))
    expect(again).toEqual({ calls: 1, callbacks: new Map() })
    outbox.notify(of(call.id), { ...callback('over again'), ends: call.id })
    await empty(outbox)
    expect(received.map(({ text }) => text)).toEqual(['over', 'over again'])
    expect(received[1]?.id).toBe(received[0]?.id)
    expect(received[0]?.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/)
  })

  it('retries nothing that another gateway may have taken over, and forgets what was taken over', async () => {
    const outbox = await open()
    answers.push(503)
    outbox.notify(of('c-1'), callback('a'))
    await postponed(2_000)
    isSure = false
    clock.advance(2_000)
    for (let i = 0; i < 20; i++) await new Promise(setImmediate)
    expect([received.length, outbox.waiting]).toEqual([1, 1])
    const nodes = new NodeRows(store)
    await nodes.seen('n1', 1)
    await nodes.takeOver('n1', 2, { heir: 'n2', ends: leftAs(clock) })
    isSure = true
    clock.advance(60_000)
    await empty(outbox)
    expect(received).toHaveLength(1)
  })

  it.each(['address-refused', 'scheme', 'request'])(
    'does not come back where it may not go: %s',
    async (reason) => {
      const outbox = await open()
      answers.push(new TrunklineError('document_unreachable', 'no', { reason }))
      outbox.notify(of('c-1'), callback('a'))
      await empty(outbox)
      expect(await outcomes()).toEqual({ refused: 1 })
    },
  )

  it('sends a callback once if it cannot be stored', async () => {
    const outbox = await open()
    vi.spyOn(rows, 'add').mockRejectedValue(new Error('disk full'))
    answers.push(503)
    outbox.notify(of('c-1'), callback('a'))
    await empty(outbox)
    expect(await outcomes()).toEqual({ 'given-up': 1 })
  })

  it('does not repeat a callback that was stored in spite of an error', async () => {
    const outbox = await open()
    const add = rows.add.bind(rows)
    vi.spyOn(rows, 'add').mockImplementation(async (row) => {
      await add(row)
      throw new Error('the answer was lost')
    })
    outbox.notify(of('c-1'), callback('a'))
    await empty(outbox)
    expect(received).toHaveLength(1)
  })

  it('stores the callbacks of one moment in their order', async () => {
    const outbox = await open()
    const { promise, resolve } = Promise.withResolvers<number>()
    answers.push(promise)
    for (const text of ['a', 'b', 'c']) outbox.notify(of('c-1'), callback(text))
    await vi.waitFor(async () => expect((await rows.counts()).get(server)).toBe(3))
    const written = await rows.next(server, 3)
    expect(written.map(({ body }) => body)).toEqual(['a', 'b', 'c'])
    const [a, b, c] = written.map(({ created_at: at }) => at - clock.now())
    expect([a, b, c]).toEqual([0, 1, 2])
    resolve(200)
    await empty(outbox)
  })

  it('sends waiting callbacks when it closes, and leaves later ones for the next run', async () => {
    const outbox = await open()
    const { promise, resolve } = Promise.withResolvers<number>()
    answers.push(promise)
    for (const text of ['a', 'b']) outbox.notify(of('c-1'), callback(text))
    await vi.waitFor(() => expect(received).toHaveLength(1))
    const closed = outbox.close()
    outbox.notify(of('c-1'), callback('c'))
    resolve(200)
    await closed
    expect(received.map(({ text }) => text)).toEqual(['a', 'b', 'c'])
    outbox.notify(of('c-1'), callback('d'))
    await vi.waitFor(async () => expect((await rows.counts()).get(server)).toBe(1))
    const next = await open()
    clock.advance(0)
    await empty(next)
    expect(received.map(({ text }) => text)).toEqual(['a', 'b', 'c', 'd'])
  })

  it('leaves for the next run the callbacks that have not started five seconds after it closes', async () => {
    const outbox = await open()
    const { promise, resolve } = Promise.withResolvers<number>()
    answers.push(promise)
    for (const text of ['a', 'b']) outbox.notify(of('c-1'), callback(text))
    await vi.waitFor(() => expect(received).toHaveLength(1))
    const closed = outbox.close()
    clock.advance(5_000)
    resolve(200)
    await closed
    expect([received.length, outbox.waiting, (await rows.counts()).get(server)]).toEqual([1, 1, 1])
  })
})
