import { expect, it } from 'vitest'
import { keyFrameRequests } from './key-frame-requests.ts'

const part = (format: number, type: number, ...words: number[]): Buffer => {
  const packet = Buffer.alloc(4 + 4 * words.length)
  packet[0] = 0x80 | format
  packet[1] = type
  packet.writeUInt16BE(words.length, 2)
  for (const [at, word] of words.entries()) packet.writeUInt32BE(word, 4 + 4 * at)
  return packet
}

it('are found by their streams: PLI, FIR with several entries, and both in one compound', () => {
  const loss = part(1, 206, 1, 77)
  const intra = part(4, 206, 1, 0, 88, 0x0100_0000, 99, 0x0200_0000)
  const report = part(0, 201, 1)
  expect(keyFrameRequests(Buffer.concat([report, loss, intra]))).toEqual([77, 88, 99])
})

it('are not found in other feedback, and not in truncated parts', () => {
  expect(keyFrameRequests(part(15, 206, 1, 77))).toEqual([])
  expect(keyFrameRequests(part(1, 205, 1, 77, 5))).toEqual([])
  const loss = part(1, 206, 1, 77)
  for (let length = 0; length < loss.length; length++)
    expect(keyFrameRequests(loss.subarray(0, length))).toEqual([])
  expect(keyFrameRequests(part(1, 206, 1))).toEqual([])
})
