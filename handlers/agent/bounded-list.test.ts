import { expect, it } from 'vitest'
import { BoundedList } from './bounded-list.ts'

const listOf = (maxItems: number, maxCharacters: number, ...items: string[]) => {
  const list = new BoundedList<string>({ maxItems, maxCharacters })
  for (const item of items) list.push(item)
  return list
}

it('drops the oldest items beyond a number', () => {
  const list = listOf(2, 1000, 'a', 'b', 'c')
  expect([list.items, list.dropped, list.length]).toEqual([['b', 'c'], 1, 2])
})

it('drops the oldest items beyond a length, but never the newest one', () => {
  const list = listOf(100, 12, 'aaa', 'bbb', 'ccc')
  expect([list.items, list.dropped, list.characters]).toEqual([['bbb', 'ccc'], 1, 10])
  list.push('x'.repeat(50))
  expect([list.length, list.dropped]).toEqual([1, 3])
})

it('counts the length of items that change, move in, or leave', () => {
  const list = listOf(100, 20, 'a', 'b')
  list.replaceLast(
    (item) => item === 'a',
    () => 'aaaa',
  )
  list.insertBefore((item) => item === 'b', 'new')
  expect([list.items, list.characters]).toEqual([['aaaa', 'new', 'b'], 14])
  list.filter((_, index) => index !== 1)
  expect([list.items, list.characters]).toEqual([['aaaa', 'b'], 9])
  list.insertBefore((item) => item === 'absent', 'end')
  expect(list.items).toEqual(['aaaa', 'b', 'end'])
})

it('takes the length of an item that the caller knows', () => {
  const list = listOf(100, 20)
  list.push('a', 19)
  list.push('b', 2)
  expect(list.items).toEqual(['b'])
})
