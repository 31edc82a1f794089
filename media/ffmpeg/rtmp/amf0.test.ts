import { expect, it } from 'vitest'
import { readAmf, writeAmf } from './amf0.ts'

it('values are read as they were written', () => {
  const values = ['connect', 1, { app: 'live', isLive: true, inner: { n: -1.5 } }, null, false, '']
  expect(readAmf(writeAmf(...values))).toEqual(values)
})

it('lists, dates and long texts of servers are read', () => {
  const date = Buffer.concat([Buffer.from([11]), writeAmf(1000).subarray(1), Buffer.alloc(2)])
  const list = Buffer.concat([Buffer.from([10, 0, 0, 0, 2]), writeAmf('a'), date])
  const long = Buffer.from([12, 0, 0, 0, 1, 0x62])
  expect(readAmf(Buffer.concat([list, long]))).toEqual([['a', 1000], 'b'])
})

it('truncated, deep and unknown values are errors', () => {
  const bytes = writeAmf('connect', { app: 'live' })
  for (let length = 1; length < bytes.length; length++)
    if (length !== 10) expect(() => readAmf(bytes.subarray(0, length))).toThrow('a whole value')
  expect(() => readAmf(Buffer.from([17]))).toThrow('no value of the type 17')
  const deep = Buffer.concat(Array.from({ length: 20 }, () => Buffer.from([3, 0, 1, 0x61])))
  expect(() => readAmf(deep)).toThrow('levels')
  // A list that claims more values than there are bytes.
  expect(() => readAmf(Buffer.from([10, 0xff, 0xff, 0xff, 0xff, 5]))).toThrow('a whole value')
})
