import fc from 'fast-check'
import { expect, it } from 'vitest'
import { FairQueue } from './fair-queue.ts'

const fill = (most: number, items: readonly string[]) => {
  const queue = new FairQueue<string>(most)
  const out = items.map((item) => queue.push(item[0]!, item))
  return { queue, out }
}
const drain = (queue: FairQueue<string>) => {
  const items: string[] = []
  for (let item = queue.shift(); item !== undefined; item = queue.shift()) items.push(item)
  return items
}

it('gives customers their turns, and each of them what it has in order', () => {
  const { queue } = fill(10, ['a1', 'a2', 'a3', 'b1', 'b2', 'c1'])
  expect(drain(queue)).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3'])
})

it('lets whoever was served wait for the others, also when more comes', () => {
  const { queue } = fill(10, ['a1', 'b1', 'b2'])
  expect(queue.shift()).toBe('a1')
  queue.push('a', 'a2')
  expect(drain(queue)).toEqual(['b1', 'a2', 'b2'])
})

it('lets the last of whoever has the most give way when it is full', () => {
  const { queue, out } = fill(3, ['a1', 'a2', 'a3', 'a4', 'b1', 'c1', 'd1'])
  expect(out).toEqual([undefined, undefined, undefined, 'a4', 'a3', 'a2', 'd1'])
  expect(drain(queue)).toEqual(['a1', 'b1', 'c1'])
})

it('forgets what is taken away', () => {
  const { queue } = fill(10, ['a1', 'b1', 'a2'])
  queue.remove('b', 'b1')
  queue.remove('b', 'b1')
  queue.remove('a', 'b1')
  expect(drain(queue)).toEqual(['a1', 'a2'])
})

it('holds at most so many, and lets nobody wait for more than one of each of the others', () => {
  const customer = fc.constantFrom('a', 'b', 'c')
  fc.assert(
    fc.property(fc.array(fc.option(customer)), (steps) => {
      const queue = new FairQueue<string>(5)
      let waiting: string[] = []
      for (const [i, step] of steps.entries()) {
        if (step === null) {
          const item = queue.shift()
          expect(item === undefined).toBe(waiting.length === 0)
          // The first of those that its customer has.
          expect(waiting.find((other) => other[0] === item?.[0])).toBe(item)
          waiting = waiting.filter((other) => other !== item)
        } else {
          waiting.push(`${step}${i}`)
          const out = queue.push(step, `${step}${i}`)
          expect(out === undefined).toBe(waiting.length <= 5)
          waiting = waiting.filter((other) => other !== out)
        }
      }
      const customers = new Set(waiting.map((item) => item[0]))
      expect(
        new Set(
          drain(queue)
            .slice(0, customers.size)
            .map((item) => item[0]),
        ),
      ).toEqual(customers)
    }),
  )
})
