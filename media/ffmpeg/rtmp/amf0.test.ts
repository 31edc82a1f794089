import { expect, it } from 'vitest'
import { readAmf, writeAmf } from './amf0.ts'

it('values are read as they were written', () => {
  const values = ['connect', 1, { app: 'live', isLive: true, inner: { n: -1.5 } }, null, false, '']
  expect(readAmf(writeAmf(...values))).toEqual(values)
})

it('truncated, deep and unknown values are errors', () => {
  const bytes = writeAmf('connect', { app: 'live' })
  for (let length = 1; length < bytes.length; length++)
    if (length !== 10) expect(() => readAmf(bytes.subarray(0, length))).toThrow('truncated')
  expect(() => readAmf(Buffer.from([11]))).toThrow('not supported')
  const deep = Buffer.concat(Array.from({ length: 20 }, () => Buffer.from([3, 0, 1, 0x61])))
  expect(() => readAmf(deep)).toThrow('levels')
})
