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

it('gives customers turns, and each its items in order', () => {
  const { queue } = fill(10, ['a1', 'a2', 'a3', 'b1', 'b2', 'c1'])
  expect(drain(queue)).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3'])
})

it('makes a served customer wait for the others, also with new items', () => {
  const { queue } = fill(10, ['a1', 'b1', 'b2'])
  expect(queue.shift()).toBe('a1')
  queue.push('a', 'a2')
  expect(drain(queue)).toEqual(['b1', 'a2', 'b2'])
})

it('removes the last item of the customer with the most when full', () => {
  const { queue, out } = fill(3, ['a1', 'a2', 'a3', 'a4', 'b1', 'c1', 'd1'])
  expect(out).toEqual([undefined, undefined, undefined, 'a4', 'a3', 'a2', 'd1'])
  expect(drain(queue)).toEqual(['a1', 'b1', 'c1'])
})

it('forgets removed items', () => {
  const { queue } = fill(10, ['a1', 'b1', 'a2'])
  queue.remove('b', 'b1')
  queue.remove('b', 'b1')
  queue.remove('a', 'b1')
  expect(drain(queue)).toEqual(['a1', 'a2'])
})

it('is bounded, and makes no customer wait for more than one item of each other', () => {
  const customer = fc.constantFrom('a', 'b', 'c')
  fc.assert(
    fc.property(fc.array(fc.option(customer)), (steps) => {
      const queue = new FairQueue<string>(5)
      let waiting: string[] = []
      for (const [i, step] of steps.entries()) {
        if (step === null) {
          const item = queue.shift()
          expect(item === undefined).toBe(waiting.length === 0)
          // The first item of its customer.
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
