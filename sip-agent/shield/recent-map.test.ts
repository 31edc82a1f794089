import { expect, it } from 'vitest'
import { RecentMap } from './recent-map.ts'

it('keeps used entries and drops unused ones within its bound', () => {
  const recent = new RecentMap<number>(10)
  recent.set('used', 1)
  recent.set('unused', 2)
  for (let i = 0; i < 1_000; i++) {
    recent.set(`stray ${i}`, i)
    expect(recent.get('used')).toBe(1)
    expect(recent.size).toBeLessThanOrEqual(10)
  }
  expect(recent.get('unused')).toBeUndefined()
})

it('replaces and deletes in both generations', () => {
  const recent = new RecentMap<number>(4)
  for (const [i, key] of ['a', 'b', 'c'].entries()) recent.set(key, i)
  recent.set('a', 7)
  expect([recent.get('a'), recent.get('b'), recent.get('c')]).toEqual([7, 1, 2])
  recent.delete('a')
  expect(recent.get('a')).toBeUndefined()
  for (const key of ['b', 'c']) recent.delete(key)
  expect(recent.size).toBe(0)
})
