import { expect, it } from 'vitest'
import { orderSrv, type Srv } from './srv.ts'

const record = (name: string, priority: number, weight: number): Srv => ({
  name,
  port: 5060,
  priority,
  weight,
})
const names = (records: readonly Srv[], random: number) =>
  orderSrv(records, () => random).map((each) => each.name)

it('lower priorities come first, whatever their weights', () => {
  const records = [record('c', 20, 100), record('a', 5, 0), record('b', 10, 1)]
  expect(names(records, 0.99)).toEqual(['a', 'b', 'c'])
})

it.each([
  // Running sums of z:0 x:10 y:30; the number drawn is 0 to 40, then of what is left.
  [0, ['z', 'x', 'y']],
  [0.2, ['x', 'y', 'z']],
  [0.999, ['y', 'x', 'z']],
])('the weights decide within a priority (%d)', (random, expected) => {
  const records = [record('x', 1, 10), record('y', 1, 30), record('z', 1, 0)]
  expect(names(records, random)).toEqual(expected)
})

it('the first records are distributed by weight over many draws', () => {
  const records = [record('x', 1, 75), record('y', 1, 25)]
  let first = 0
  for (let i = 0; i < 1_000; i++) if (names(records, i / 1_000)[0] === 'x') first++
  expect(Math.abs(first - 750)).toBeLessThan(15)
})
