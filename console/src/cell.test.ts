import { expect, it } from 'vitest'
import { Cell } from './cell.ts'

it('followers are called after each change, until they stop', () => {
  const cell = new Cell('a')
  const seen: string[] = []
  const stop = cell.follow(() => seen.push(cell.value))
  cell.value = 'b'
  cell.value = 'b'
  cell.value = 'c'
  stop()
  cell.value = 'd'
  expect(seen).toEqual(['b', 'c'])
})

it('a follower may change the cell again', () => {
  const cell = new Cell(0)
  const seen: number[] = []
  cell.follow(() => {
    if (cell.value < 3) cell.value++
  })
  cell.follow(() => seen.push(cell.value))
  cell.value = 1
  expect(cell.value).toBe(3)
  expect(seen.at(-1)).toBe(3)
})
