import { expect, it } from 'vitest'
import { fullTokenBucket, takeTokens } from './token-bucket.ts'

it('holds the tokens of a second, and refills at its rate', () => {
  const bucket = fullTokenBucket(0)
  const taken = () => Array.from({ length: 10 }, () => takeTokens(bucket, 5, 0)).filter(Boolean).length
  expect(taken()).toBe(5)
  expect(takeTokens(bucket, 5, 199)).toBe(false)
  expect(takeTokens(bucket, 5, 201)).toBe(true)
})

it('adds nothing if the clock is set back, and refills from there', () => {
  const bucket = fullTokenBucket(10_000)
  takeTokens(bucket, 1, 10_000)
  expect(takeTokens(bucket, 1, 0)).toBe(false)
  expect(takeTokens(bucket, 1, 1_000)).toBe(true)
})

it('takes all tokens if the price exceeds those of a second', () => {
  const bucket = fullTokenBucket(0)
  expect(takeTokens(bucket, 3, 0, 5)).toBe(true)
  expect(takeTokens(bucket, 3, 900, 5)).toBe(false)
  expect(takeTokens(bucket, 3, 1_000, 5)).toBe(true)
})
