import { expect, it } from 'vitest'
import { fullTokenBucket, takeTokens } from './token-bucket.ts'

it('gives what a second holds at once, and then as much as runs in', () => {
  const bucket = fullTokenBucket(0)
  const taken = () => Array.from({ length: 10 }, () => takeTokens(bucket, 5, 0)).filter(Boolean).length
  expect(taken()).toBe(5)
  expect(takeTokens(bucket, 5, 199)).toBe(false)
  expect(takeTokens(bucket, 5, 201)).toBe(true)
})

it('gives nothing for a clock that was set back, and goes on from there', () => {
  const bucket = fullTokenBucket(10_000)
  takeTokens(bucket, 1, 10_000)
  expect(takeTokens(bucket, 1, 0)).toBe(false)
  expect(takeTokens(bucket, 1, 1_000)).toBe(true)
})

it('takes all of it where the price is more than a second holds', () => {
  const bucket = fullTokenBucket(0)
  expect(takeTokens(bucket, 3, 0, 5)).toBe(true)
  expect(takeTokens(bucket, 3, 900, 5)).toBe(false)
  expect(takeTokens(bucket, 3, 1_000, 5)).toBe(true)
})
