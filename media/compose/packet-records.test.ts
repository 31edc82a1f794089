import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type PacketRecord, RecordReader, writeRecords } from './packet-records.ts'

describe('the records of packets in the pipe', () => {
  it('are read as they were written, however the pipe cuts them', () => {
    fc.assert(
      fc.property(
        fc.array(fc.uint8Array({ minLength: 1, maxLength: 2048 }), { minLength: 1, maxLength: 10 }),
        fc.integer({ min: 1, max: 3000 }),
        (contents, cut) => {
          const records: PacketRecord[] = []
          const reader = new RecordReader((record) => records.push(record))
          const packets = contents.map((content) => Buffer.from(content))
          const bytes = Buffer.concat([
            writeRecords(7, 'high', 'rtp', packets),
            writeRecords(0xffff_fffe, 'low', 'rtcp', packets),
          ])
          for (let at = 0; at < bytes.length; at += cut) reader.read(bytes.subarray(at, at + cut))
          expect(records).toEqual([
            ...packets.map((packet) => ({ room: 7, rendition: 'high', kind: 'rtp', packet })),
            ...packets.map((packet) => ({ room: 0xffff_fffe, rendition: 'low', kind: 'rtcp', packet })),
          ])
        },
      ),
    )
  })

  it.each([
    ['an empty packet', [0, 0, 0, 0, 0, 0, 1]],
    ['a long packet', [0xff, 0, 0, 0, 0, 0, 1]],
    ['an unknown kind', [0, 1, 9, 0, 0, 0, 1]],
  ])('are rejected: %s', (_name, bytes) => {
    const reader = new RecordReader(() => expect.unreachable())
    expect(() => reader.read(Buffer.from(bytes))).toThrow('a malformed record')
  })
})
