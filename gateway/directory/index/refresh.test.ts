import { expect, it } from 'vitest'
import type { Store } from '../store/sqlite.ts'
import type { Changed } from './memory.ts'
import { Refresh } from './refresh.ts'

/** A memory whose readings the test ends one by one. */
class SlowMemory {
  readonly readings: (readonly string[] | 'all')[] = []
  readonly #running: PromiseWithResolvers<void>[] = []

  read(_: Store, { resources = [] }: Changed): Promise<void> {
    return this.#begin(resources)
  }

  readAll(): Promise<void> {
    return this.#begin('all')
  }

  async end(error?: Error): Promise<void> {
    const run = this.#running.shift()
    if (error) run?.reject(error)
    else run?.resolve()
    await new Promise((resolve) => setImmediate(resolve))
  }

  #begin(what: readonly string[] | 'all'): Promise<void> {
    this.readings.push(what)
    const run = Promise.withResolvers<void>()
    this.#running.push(run)
    return run.promise
  }
}

const open = async () => {
  const memory = new SlowMemory()
  const refresh = new Refresh({} as Store, memory)
  const first = refresh.changed({ resources: ['a'] })
  await Promise.resolve()
  return { memory, refresh, first }
}

it('reads one after the other, and together what was named meanwhile', async () => {
  const { memory, refresh, first } = await open()
  const rest = [refresh.changed({ resources: ['a'] }), refresh.changed({ resources: ['b'] })]
  expect(memory.readings).toEqual([['a']])
  await memory.end()
  await first
  expect(memory.readings).toEqual([['a'], ['a', 'b']])
  await memory.end()
  await Promise.all(rest)
})

it('makes up for a reading that failed by the next one', async () => {
  const { memory, refresh, first } = await open()
  const failed = expect(first).rejects.toThrow('away')
  await memory.end(new Error('away'))
  await failed
  const next = refresh.changed({ resources: ['b'] })
  await Promise.resolve()
  await memory.end()
  await next
  expect(memory.readings).toEqual([['a'], 'all'])
})
