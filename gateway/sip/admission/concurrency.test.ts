import { expect, it } from 'vitest'
import { Concurrency } from './concurrency.ts'

it('a concurrency permit is released once, however often release is called', () => {
  const counts = new Concurrency()
  const first = counts.acquire('a')
  const second = counts.acquire('a')
  counts.acquire('b')
  first()
  first()
  expect([counts.count('a'), counts.count('b'), counts.size]).toEqual([1, 1, 2])
  second()
  expect([counts.count('a'), counts.size]).toEqual([0, 1])
})
