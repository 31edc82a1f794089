import { beforeEach, describe, expect, it } from 'vitest'
import { FakeClock } from './clock.ts'
import { MemoryRetryQueue } from './memory-retry-queue.ts'
import { type AttemptOutcome, RetryQueue, type RetryQueueDeps } from './retry-queue.ts'

interface Row {
  readonly id: string
  readonly group?: string
}

const began = 1_700_000_000_000
let clock: FakeClock
/** Stored rows with the times when they are due. */
let stored: Map<Row, number>
/** Attempts, as `row at second`. */
let attempts: string[]
let errors: unknown[]
let idleCount: number
/** Running attempts, which the test ends. */
let running: Map<string, (outcome: AttemptOutcome) => void>
let storeFault: Error | undefined

beforeEach(() => {
  clock = new FakeClock(began)
  stored = new Map()
  attempts = []
  errors = []
  idleCount = 0
  running = new Map()
  storeFault = undefined
})

const settle = () => new Promise(setImmediate)

const queueOf = (options: Partial<RetryQueueDeps<Row>> = {}) =>
  new RetryQueue<Row>({
    store: {
      next: async (limit) => {
        if (storeFault) throw storeFault
        const rows = [...stored].map(([row, dueAt]) => ({ row, dueAt }))
        return rows.sort((a, b) => a.dueAt - b.dueAt).slice(0, limit)
      },
      postpone: async (row, dueAt) => void stored.set(row, dueAt),
      remove: async (row) => void stored.delete(row),
    },
    clock,
    attempt: ({ id }) => {
      attempts.push(`${id} at ${(clock.now() - began) / 1000}`)
      return new Promise((resolve) => running.set(id, resolve))
    },
    maxConcurrent: 2,
    onError: (error) => errors.push(error),
    onIdle: () => idleCount++,
    ...options,
  })

const end = async (id: string, outcome: AttemptOutcome) => {
  running.get(id)?.(outcome)
  await settle()
}

const add = (queue: RetryQueue<Row>, row: Row) => {
  stored.set(row, clock.now())
  queue.add(row)
}

describe('a retry queue', () => {
  it('tries a new row at once, again when it is due, and ends when it is empty', async () => {
    const queue = queueOf()
    add(queue, { id: 'a' })
    await end('a', 3_000)
    clock.advance(2_999)
    await settle()
    expect([attempts, queue.waiting]).toEqual([['a at 0'], 1])
    clock.advance(1)
    await settle()
    await end('a', 'finished')
    expect([attempts, queue.waiting, idleCount, stored.size]).toEqual([['a at 0', 'a at 3'], 0, 1, 0])
    expect(clock.running).toBe(0)
  })

  it('tries waiting rows by their due times, and only so many at once', async () => {
    const queue = queueOf()
    for (const [id, dueAt] of Object.entries({ c: 3, a: 1, b: 2 })) stored.set({ id }, dueAt)
    queue.addStored(3)
    await settle()
    expect(attempts).toEqual(['a at 0', 'b at 0'])
    await end('a', 'finished')
    expect(attempts).toEqual(['a at 0', 'b at 0', 'c at 0'])
  })

  it('tries the rows of a group one after the other, and other groups meanwhile', async () => {
    const queue = queueOf({ groupOf: ({ group = '' }) => group })
    add(queue, { id: 'a', group: '1' })
    add(queue, { id: 'b', group: '1' })
    add(queue, { id: 'c', group: '2' })
    await settle()
    expect(attempts).toEqual(['a at 0', 'c at 0'])
    await end('a', 'finished')
    expect(attempts).toEqual(['a at 0', 'c at 0', 'b at 0'])
  })

  it('tries a row that could not be stored once', async () => {
    const queue = queueOf({ attempt: async (_row, isStored) => (isStored ? 1_000 : 'finished') })
    queue.add({ id: 'a' }, Promise.resolve(false))
    await settle()
    expect([queue.waiting, idleCount, clock.running]).toEqual([0, 1, 0])
  })

  it('reports a failure of the store, and pauses for a minute', async () => {
    const queue = queueOf()
    stored.set({ id: 'a' }, 0)
    storeFault = new Error('disk full')
    queue.addStored(1)
    await settle()
    storeFault = undefined
    queue.wake()
    clock.advance(59_999)
    await settle()
    expect([attempts, errors]).toEqual([[], [new Error('disk full')]])
    clock.advance(1)
    await settle()
    expect(attempts).toEqual(['a at 60'])
  })

  it('tries no waiting row while it may not, or while too many attempts are running', async () => {
    let mayTry = false
    const queue = queueOf({ mayTry: () => mayTry, maxRunning: 1 })
    add(queue, { id: 'a' })
    add(queue, { id: 'b' })
    stored.set({ id: 'c' }, 0)
    queue.addStored(1)
    await settle()
    mayTry = true
    clock.advance(60_000)
    await settle()
    await end('a', 'finished')
    expect(attempts).toEqual(['a at 0', 'b at 0'])
    clock.advance(2_000)
    await settle()
    expect(attempts).toEqual(['a at 0', 'b at 0', 'c at 62'])
  })

  it('forgets its rows if the store has none of them', async () => {
    const queue = queueOf()
    queue.addStored(3)
    await settle()
    expect([queue.waiting, idleCount, clock.running]).toEqual([0, 1, 0])
  })

  it('waits for running attempts when it closes, and leaves the rest in the store', async () => {
    const queue = queueOf()
    add(queue, { id: 'a' })
    stored.set({ id: 'b' }, clock.now() + 1_000)
    queue.addStored(1)
    await settle()
    let isClosed = false
    const closed = queue.close().then(() => {
      isClosed = true
    })
    clock.advance(5_000)
    await settle()
    expect([attempts, isClosed]).toEqual([['a at 0'], false])
    await end('a', 'left')
    await closed
    expect([queue.waiting, stored.size, clock.running]).toEqual([2, 2, 0])
  })
})

describe('a retry queue in memory', () => {
  const retrying = (results: (number | { readonly result: string })[]) => {
    const tried: number[] = []
    const attempt = async (_task: string, tries: number) => {
      tried.push(tries)
      return results.shift() ?? { result: 'done' }
    }
    const queue = new MemoryRetryQueue<string, string>({
      clock,
      attempt,
      maxConcurrent: 1,
      failure: 'failed',
      onError: (error) => errors.push(error),
    })
    return { queue, tried }
  }

  it('resolves with the result of a task after its retries', async () => {
    const { queue, tried } = retrying([1_000, 2_000])
    const result = queue.run('a')
    for (const wait of [1_000, 2_000]) {
      await settle()
      expect(queue.size).toBe(1)
      clock.advance(wait)
    }
    expect(await result).toBe('done')
    await settle()
    expect([tried, queue.size, clock.running]).toEqual([[0, 1, 2], 0, 0])
  })

  it('retries a task at once when its signal fires, and takes further tasks after it was empty', async () => {
    const { queue, tried } = retrying([1_000, { result: 'first' }])
    const hurry = new AbortController()
    const first = queue.run('a', hurry.signal)
    await settle()
    hurry.abort()
    expect(await first).toBe('first')
    await settle()
    expect(await queue.run('b')).toBe('done')
    expect(tried).toEqual([0, 1, 0])
  })

  it('ends the waits of all tasks when it is hurried', async () => {
    const { queue } = retrying([1_000, 1_000])
    const results = Promise.all([queue.run('a'), queue.run('b')])
    await settle()
    queue.hurry()
    await queue.drain()
    expect(await results).toEqual(['done', 'done'])
    expect(clock.running).toBe(0)
  })

  it('retries at once a task whose signal fires during its attempt', async () => {
    const hurry = new AbortController()
    const tried: number[] = []
    const queue = new MemoryRetryQueue<string, string>({
      clock,
      attempt: async (_task, tries) => {
        tried.push(tries)
        hurry.abort()
        return tries === 0 ? 60_000 : { result: 'done' }
      },
      maxConcurrent: 1,
      failure: 'failed',
      onError: (error) => errors.push(error),
    })
    expect(await queue.run('a', hurry.signal)).toBe('done')
    expect([tried, clock.running]).toEqual([[0, 1], 0])
  })

  it('ends a task whose attempt is rejected, and goes on with the others', async () => {
    const queue = new MemoryRetryQueue<string, string>({
      clock,
      attempt: async (task) => {
        if (task === 'a') throw new Error('fault')
        return { result: 'done' }
      },
      maxConcurrent: 1,
      failure: 'failed',
      onError: (error) => errors.push(error),
      onIdle: () => idleCount++,
    })
    expect(await Promise.all([queue.run('a'), queue.run('b')])).toEqual(['failed', 'done'])
    expect([errors, idleCount]).toEqual([[new Error('fault')], 1])
  })
})
