import { expect, it } from 'vitest'
import { ByteCache } from './cache.ts'

const make = () => new ByteCache<string>(10, (value) => value.length)

it('drops the least recently used value', () => {
  const cache = make()
  cache.set('a', '1234')
  cache.set('b', '1234')
  cache.get('a')
  cache.set('c', '1234')
  expect([cache.get('a'), cache.get('b'), cache.get('c')]).toEqual(['1234', undefined, '1234'])
  expect(cache.bytes).toBe(8)
})

it('counts a replaced value only once', () => {
  const cache = make()
  cache.set('a', '12345')
  cache.set('a', '12')
  expect(cache.bytes).toBe(2)
})

it('does not keep a value that alone exceeds the limit', () => {
  const cache = make()
  cache.set('a', '123')
  cache.set('b', '12345678901')
  expect(cache.get('b')).toBeUndefined()
  expect(cache.bytes).toBe(3)
  cache.clear()
  expect(cache.bytes).toBe(0)
})
