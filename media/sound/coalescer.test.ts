import { expect, it } from 'vitest'
import { Coalescer } from './coalescer.ts'

const setUp = () => {
  const sharing = new Coalescer<string>()
  const made: { resolve: (value: string) => void; reject: (error: Error) => void; signal: AbortSignal }[] = []
  const make = (signal: AbortSignal) => {
    const { promise, resolve, reject } = Promise.withResolvers<string>()
    made.push({ resolve, reject, signal })
    return promise
  }
  return { sharing, made, make }
}

it('runs one task for concurrent requests, and again afterwards', async () => {
  const { sharing, made, make } = setUp()
  const both = [sharing.run('a', make), sharing.run('a', make), sharing.run('b', make)]
  expect([made.length, sharing.size, sharing.has('a')]).toEqual([2, 2, true])
  made[0]!.resolve('A')
  made[1]!.resolve('B')
  expect(await Promise.all(both)).toEqual(['A', 'A', 'B'])
  expect(sharing.size).toBe(0)
  const again = sharing.run('a', make)
  made[2]!.reject(new Error('gone'))
  await expect(again).rejects.toThrow('gone')
  expect(sharing.size).toBe(0)
})

it('cancels with the last request, and starts anew for the next', async () => {
  const { sharing, made, make } = setUp()
  const one = new AbortController()
  const two = new AbortController()
  const first = sharing.run('a', make, one.signal)
  const second = sharing.run('a', make, two.signal)
  one.abort()
  await expect(first).rejects.toThrow('cancelled')
  expect(made[0]!.signal.aborted).toBe(false)
  two.abort()
  await expect(second).rejects.toThrow('cancelled')
  expect([made[0]!.signal.aborted, sharing.size]).toEqual([true, 0])
  const third = sharing.run('a', make)
  made[0]!.resolve('late')
  made[1]!.resolve('new')
  expect(await third).toBe('new')
  await expect(sharing.run('a', make, one.signal)).rejects.toThrow('cancelled')
  expect(made.length).toBe(2)
})
