import { expect, it } from 'vitest'
import { FakeClock } from '../core/clock.ts'
import { CircuitBreakers } from './circuit-breakers.ts'

const failed = (breakers: CircuitBreakers, server: string, times: number) => {
  for (let i = 0; i < times; i++) breakers.failed(server)
}

it('leaves a server alone after five failures in a row, and lets one request try it later', () => {
  const clock = new FakeClock()
  const breakers = new CircuitBreakers(clock)
  failed(breakers, 'a', 4)
  expect(breakers.admits('a')).toBe(true)
  breakers.failed('a')
  expect([breakers.admits('a'), breakers.open]).toEqual([false, 1])
  expect(breakers.admits('b')).toBe(true)
  clock.advance(10_000)
  expect([breakers.admits('a'), breakers.admits('a')]).toEqual([true, false])
  breakers.failed('a')
  clock.advance(9_999)
  expect(breakers.admits('a')).toBe(false)
  clock.advance(1)
  expect(breakers.admits('a')).toBe(true)
  breakers.answered('a')
  expect([breakers.admits('a'), breakers.admits('a'), breakers.open]).toEqual([true, true, 0])
})

it('begins to count anew after an answer', () => {
  const breakers = new CircuitBreakers(new FakeClock())
  failed(breakers, 'a', 4)
  breakers.answered('a')
  failed(breakers, 'a', 4)
  expect(breakers.admits('a')).toBe(true)
})

it('remembers no more than ten thousand servers', () => {
  const breakers = new CircuitBreakers(new FakeClock())
  failed(breakers, 'first', 5)
  for (let i = 0; i < 10_000; i++) breakers.failed(`s${i}`)
  expect(breakers.admits('first')).toBe(true)
})
