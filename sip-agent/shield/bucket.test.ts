import { expect, it } from 'vitest'
import { fullBucket, takeFrom } from './bucket.ts'

it('gives what a second holds at once, and then as much as runs in', () => {
  const bucket = fullBucket(0)
  const taken = () => Array.from({ length: 10 }, () => takeFrom(bucket, 5, 0)).filter(Boolean).length
  expect(taken()).toBe(5)
  expect(takeFrom(bucket, 5, 199)).toBe(false)
  expect(takeFrom(bucket, 5, 201)).toBe(true)
})

it('gives nothing for a clock that was set back, and goes on from there', () => {
  const bucket = fullBucket(10_000)
  takeFrom(bucket, 1, 10_000)
  expect(takeFrom(bucket, 1, 0)).toBe(false)
  expect(takeFrom(bucket, 1, 1_000)).toBe(true)
})

it('takes all of it where the price is more than a second holds', () => {
  const bucket = fullBucket(0)
  expect(takeFrom(bucket, 3, 0, 5)).toBe(true)
  expect(takeFrom(bucket, 3, 900, 5)).toBe(false)
  expect(takeFrom(bucket, 3, 1_000, 5)).toBe(true)
})
