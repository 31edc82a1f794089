import { beforeEach, expect, it } from 'vitest'
import {
  chunkSizeMessage,
  type RtmpMessage,
  RtmpReader,
  transportMessage,
  writeChunks,
} from './rtmp-chunks.ts'

let reader: RtmpReader

beforeEach(() => {
  reader = new RtmpReader()
})

const message = (body: Buffer, type = 20): RtmpMessage => ({ type, stream: 1, timestamp: 7, body })

/** Returns a chunk with a whole header. `id`: bytes of the basic header. */
const chunk = (id: readonly number[], length: number, body: Buffer, time = 0): Buffer => {
  const head = Buffer.alloc(11)
  head.writeUIntBE(time, 0, 3)
  head.writeUIntBE(length, 3, 3)
  head[6] = 20
  return Buffer.concat([Buffer.from(id), head, body])
}

it('messages are read from chunks of any size, in parts of any length', () => {
  const sent = [message(Buffer.alloc(300, 1)), message(Buffer.alloc(0)), message(Buffer.alloc(5, 2), 8)]
  const bytes = Buffer.concat(sent.map((each) => writeChunks(each, 3, 128)))
  for (const step of [1, 7, 1000]) {
    const found: RtmpMessage[] = []
    const inParts = new RtmpReader()
    for (let at = 0; at < bytes.length; at += step) found.push(...inParts.push(bytes.subarray(at, at + step)))
    expect(found).toEqual(sent)
  }
})

it('the chunks of several streams may alternate, also with long numbers', () => {
  const a = chunk([0, 5], 200, Buffer.alloc(128, 1))
  const b = chunk([1, 0, 1], 4, Buffer.alloc(4, 2))
  const rest = Buffer.concat([Buffer.from([0xc0, 5]), Buffer.alloc(72, 1)])
  expect(reader.push(Buffer.concat([a, b, rest])).map(({ body }) => body)).toEqual([
    Buffer.alloc(4, 2),
    Buffer.alloc(200, 1),
  ])
})

it('headers take what they leave out from the message before', () => {
  reader.push(writeChunks(message(Buffer.from('ab')), 3))
  const delta = Buffer.from([0x80 | 3, 0, 0, 3, 0x63, 0x64])
  const same = Buffer.from([0xc0 | 3, 0x65, 0x66])
  expect(reader.push(Buffer.concat([delta, same]))).toEqual([
    { ...message(Buffer.from('cd')), timestamp: 10 },
    { ...message(Buffer.from('ef')), timestamp: 10 },
  ])
})

it('an aborted message is forgotten', () => {
  reader.push(chunk([3], 200, Buffer.alloc(128)))
  reader.push(writeChunks(transportMessage(2, 3), 2))
  expect(reader.push(writeChunks(message(Buffer.from('x')), 3))).toEqual([message(Buffer.from('x'))])
})

it('a larger chunk size is followed', () => {
  reader.push(writeChunks(chunkSizeMessage(), 2))
  expect(reader.push(writeChunks(message(Buffer.alloc(60_000, 4)), 3))).toHaveLength(1)
})

it.each([
  ['a message that is too long', chunk([3], 65_537, Buffer.alloc(0)), 'at most 65536 bytes'],
  ['a chunk without a header before', Buffer.from([0xc5]), 'a whole chunk header'],
  ['a chunk size of 0', writeChunks(transportMessage(1, 0), 2), 'a chunk size'],
  ['a chunk size of 32 bits', writeChunks(transportMessage(1, 0x8000_0000), 2), 'a chunk size'],
  [
    'a chunk size without a number',
    writeChunks({ type: 1, stream: 0, timestamp: 0, body: Buffer.alloc(1) }, 2),
    'size',
  ],
  [
    'a message within another',
    Buffer.concat([chunk([3], 200, Buffer.alloc(128)), chunk([3], 1, Buffer.alloc(1))]),
    'the rest of a message',
  ],
  [
    'many chunk streams',
    Buffer.concat(Array.from({ length: 17 }, (_, i) => chunk([3 + i], 1, Buffer.alloc(1)))),
    'at most 16 chunk streams',
  ],
])('%s is an error', (_what, bytes, text) => {
  expect(() => reader.push(bytes)).toThrow(text)
})

it('damaged bytes are errors or messages, never more memory', () => {
  let seed = 1
  const random = () => {
    seed = (seed * 48_271) % 0x7fff_ffff
    return seed
  }
  const whole = Buffer.concat([
    writeChunks(chunkSizeMessage(), 2),
    ...Array.from({ length: 20 }, (_, i) => writeChunks(message(Buffer.alloc(i % 12, i)), 3 + (i % 3))),
  ])
  let errors = 0
  for (let round = 0; round < 300; round++) {
    const damaged = Buffer.from(whole)
    for (let i = 0; i < 5; i++) damaged[random() % damaged.length] = random() & 0xff
    try {
      for (const { body } of new RtmpReader().push(damaged)) expect(body.length).toBeLessThanOrEqual(65_536)
    } catch (error) {
      errors++
      expect((error as Error).message).toMatch(/^The server does not keep to RTMP: /)
    }
  }
  expect(errors).toBeGreaterThan(50)
})
