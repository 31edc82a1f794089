import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { stillPicture } from './still-picture.ts'
import { readVp8Packet, Vp8Reader } from './testing/vp8-reader.ts'
import { type Frame, Vp8Source, type Vp8SourceOptions } from './testing/vp8-source.ts'
import { Vp8Rewriter } from './vp8-rewriter.ts'

const seed = { ssrc: 7, payloadType: 100, sequence: 65_530, timestamp: 0xffffff00, pictureId: 0x7ffd }

const read = (packet: Buffer | undefined) => packet && readVp8Packet(packet)

/** Returns the numbers relative to the seed, so that wraps do not obscure them. */
const relative = (packet: Buffer | undefined) => {
  const found = read(packet)
  return (
    found && {
      sequence: (found.sequence - seed.sequence + 0x10000) & 0xffff,
      timestamp: (found.timestamp - seed.timestamp) >>> 0,
      picture:
        found.pictureId === undefined ? undefined : (found.pictureId - seed.pictureId + 0x8000) & 0x7fff,
    }
  )
}

const setUp = () => {
  const rewriter = new Vp8Rewriter(seed)
  const send = (now: number, source: Vp8Source, frame: Frame = {}) =>
    source.frame(frame).map((packet) => rewriter.forward(now, source, packet))
  return { rewriter, send }
}

describe('the VP8 rewriter', () => {
  it('starts at its seed with a key frame, and keeps the marker and the data', () => {
    const { send } = setUp()
    const source = new Vp8Source({ ssrc: 9, sequence: 500, pictureId: 77 })
    expect(send(0, source)).toEqual([undefined])
    const [first, second] = send(33, source, { isKey: true, packets: 2, text: 'a' }).map(read)
    expect(first).toMatchObject({ ...seed, marker: false, data: Buffer.from('Pa/0'), isKeyFrameStart: true })
    expect(second).toMatchObject({ ssrc: 7, payloadType: 100, marker: true, data: Buffer.from('Pa/1') })
  })

  it('continues with its source over the wraps of all numbers', () => {
    const { send } = setUp()
    const source = new Vp8Source({ sequence: 65_533, timestamp: 0xfffff000, pictureId: 0x7ffe })
    for (let i = 0; i < 10; i++)
      expect(relative(send(i * 33, source, { isKey: i === 0 })[0])).toEqual({
        sequence: i,
        timestamp: i * 3000,
        picture: i,
      })
  })

  it('extends picture ids of 7 bits to 15 over their wrap', () => {
    const { send } = setUp()
    const source = new Vp8Source({ pictureIdBits: 7, pictureId: 125 })
    for (let i = 0; i < 300; i++)
      expect(relative(send(i * 33, source, { isKey: i === 0 })[0])).toMatchObject({ picture: i })
  })

  it('changes to another source only at its key frame, with time passed and all numbers continued', () => {
    const { send } = setUp()
    const a = new Vp8Source({ hasLayers: true, tl0PicIdx: 9 })
    const b = new Vp8Source({ hasLayers: true, tl0PicIdx: 200, sequence: 9000, timestamp: 5, pictureId: 12 })
    const before = read(send(0, a, { isKey: true })[0])!
    expect(send(20, b)).toEqual([undefined])
    expect(relative(send(33, a)[0])).toMatchObject({ sequence: 1, picture: 1 })
    const cut = send(100, b, { isKey: true, packets: 2 })
    expect(cut.map(relative)).toEqual([
      { sequence: 2, timestamp: 3000 + 67 * 90, picture: 2 },
      { sequence: 3, timestamp: 3000 + 67 * 90, picture: 2 },
    ])
    expect(read(cut[0])!.tl0PicIdx).toBe((before.tl0PicIdx! + 2) & 0xff)
    expect(read(send(120, b, { isBase: false })[0])).toMatchObject({
      tl0PicIdx: before.tl0PicIdx! + 2,
      layers: 0x40,
    })
    expect(send(133, a)).toEqual([undefined])
    expect(relative(send(153, b)[0])).toMatchObject({ sequence: 5, picture: 4 })
  })

  it('starts no source inside a key frame', () => {
    const { rewriter } = setUp()
    const source = new Vp8Source()
    const [, second, third] = source.frame({ isKey: true, packets: 3 })
    expect(rewriter.forward(0, source, second!)).toBeUndefined()
    expect(rewriter.forward(0, source, third!)).toBeUndefined()
  })

  it('shows loss, sends late packets once at their place, and drops those of before the cut', () => {
    const { rewriter, send } = setUp()
    const source = new Vp8Source({ sequence: 100 })
    const [early] = source.frame()
    send(0, source, { isKey: true })
    const [lost] = source.frame()
    expect(relative(send(66, source)[0])).toEqual({ sequence: 2, timestamp: 6000, picture: 2 })
    expect(relative(rewriter.forward(70, source, lost!))).toEqual({
      sequence: 1,
      timestamp: 3000,
      picture: 1,
    })
    expect(rewriter.forward(71, source, lost!)).toBeUndefined()
    expect(rewriter.forward(72, source, early!)).toBeUndefined()
    expect(rewriter.needsKeyFrame).toBe(false)
  })

  it('drops late packets with numbers of before the cut, and continues', () => {
    const { rewriter, send } = setUp()
    const source = new Vp8Source({ sequence: 99, pictureId: 50 })
    const { sequence, timestamp, pictureId } = source
    send(0, source, { isKey: true })
    source.frame()
    send(66, source)
    const late = (numbers: Partial<Vp8SourceOptions>) => {
      const [packet] = new Vp8Source({ sequence, timestamp, pictureId, ...numbers }).frame()
      return rewriter.forward(70, source, packet!)
    }
    expect(late({ sequence: sequence - 1 })).toBeUndefined()
    expect(late({ sequence: sequence + 1, pictureId: pictureId - 1 })).toBeUndefined()
    expect(late({ sequence: sequence + 1, timestamp: timestamp - 1 })).toBeUndefined()
    expect(relative(send(100, source)[0])).toEqual({ sequence: 3, timestamp: 9000, picture: 3 })
  })

  it('keeps the sequence over padding, and drops header extensions', () => {
    const { rewriter, send } = setUp()
    const source = new Vp8Source()
    send(0, source, { isKey: true })
    expect(read(rewriter.forward(10, source, source.padding()))).toMatchObject({
      data: Buffer.alloc(0),
      marker: false,
    })
    const [plain] = source.frame({ text: 'x' })
    const extended = Buffer.concat([
      plain!.subarray(0, 12),
      Buffer.from('bede000110aa0000', 'hex'),
      plain!.subarray(12),
    ])
    extended[0] = 0x90
    const packet = rewriter.forward(33, source, extended)!
    expect(relative(packet)).toMatchObject({ sequence: 2, timestamp: 3000 })
    expect(read(packet)!.data.toString()).toBe('Qx/0')
  })

  it('sends stills between sources, and counts for sender reports', () => {
    const { rewriter, send } = setUp()
    const source = new Vp8Source()
    send(0, source, { isKey: true })
    const still = rewriter.still(2000, stillPicture)
    expect(relative(still)).toEqual({ sequence: 1, timestamp: 180_000, picture: 1 })
    expect(read(still)).toMatchObject({ marker: true, isKeyFrameStart: true, data: stillPicture })
    expect(send(2033, source)).toEqual([undefined])
    const [next] = send(2066, source, { isKey: true })
    expect(relative(next)).toEqual({ sequence: 2, timestamp: 180_000 + 66 * 90, picture: 2 })
    expect(rewriter.senderInfo(2076)).toEqual({
      at: 2076,
      timestamp: (seed.timestamp + 180_000 + 76 * 90) >>> 0,
      packets: 3,
      octets: next!.length - 12 + still.length - 12 + next!.length - 12,
    })
  })

  it.each([
    [
      'the sequence',
      (source: Vp8Source) => {
        source.sequence = (source.sequence + 5000) & 0xffff
      },
    ],
    [
      'the timestamp',
      (source: Vp8Source) => {
        source.timestamp += 90_000 * 60
      },
    ],
    [
      'the picture id',
      (source: Vp8Source) => {
        source.pictureId += 5000
      },
    ],
    [
      'the base layer index',
      (source: Vp8Source) => {
        source.tl0PicIdx -= 5
      },
    ],
  ])('waits for a key frame after a jump of %s, and continues its numbers there', (_name, jump) => {
    const { rewriter, send } = setUp()
    const source = new Vp8Source({ hasLayers: true, tl0PicIdx: 9 })
    send(0, source, { isKey: true })
    jump(source)
    expect(send(33, source)).toEqual([undefined])
    expect(rewriter.needsKeyFrame).toBe(true)
    expect(send(66, source)).toEqual([undefined])
    expect(relative(send(100, source, { isKey: true })[0])).toEqual({
      sequence: 1,
      timestamp: 9000,
      picture: 1,
    })
    expect(rewriter.needsKeyFrame).toBe(false)
    expect(relative(send(133, source)[0])).toEqual({ sequence: 2, timestamp: 12_000, picture: 2 })
  })
})

/** Steps of the property tests. */
const step = fc.record({
  source: fc.nat(2),
  isKey: fc.boolean(),
  packets: fc.integer({ min: 1, max: 4 }),
  isBase: fc.boolean(),
  fate: fc.constantFrom('sent', 'sent', 'sent', 'lost', 'late', 'twice', 'still'),
  ms: fc.integer({ min: 1, max: 80 }),
})
const sources = fc.tuple(
  ...[0, 1, 2].map(() =>
    fc.record<
      Required<Pick<Vp8SourceOptions, 'sequence' | 'timestamp' | 'pictureId' | 'pictureIdBits' | 'hasLayers'>>
    >({
      sequence: fc.nat(0xffff),
      timestamp: fc.nat(0xffffffff),
      pictureId: fc.nat(0x7f),
      pictureIdBits: fc.constantFrom(0, 7, 15),
      hasLayers: fc.boolean(),
    }),
  ),
)

const ownerOf = (data: Buffer): string => (data.equals(stillPicture) ? 'still' : data.toString().slice(1, 2))

/** Checks that each source starts with a key frame, right after the packet before it. */
const checkCuts = (reader: Vp8Reader): void => {
  const packets = reader.inOrder
  for (const [index, packet] of packets.entries()) {
    const before = packets[index - 1]
    if (!before) continue
    const owner = ownerOf(packet.data)
    if (owner === ownerOf(before.data) && owner !== 'still') continue
    expect(packet).toMatchObject({ isKeyFrameStart: true, at: before.at + 1 })
  }
}

describe('any sequence of sources', () => {
  it('gives one stream, in which each source starts with a key frame and numbers only increase', () => {
    fc.assert(
      fc.property(sources, fc.array(step, { maxLength: 80 }), (options, steps) => {
        const rewriter = new Vp8Rewriter(seed)
        const made = options.map((one) => new Vp8Source(one))
        const reader = new Vp8Reader()
        const add = (packet: Buffer | undefined) => packet && reader.add(packet)
        let now = 0
        let waiting: { source: Vp8Source; packet: Buffer }[] = []
        for (const { source: index, fate, ms, ...frame } of steps) {
          now += ms
          const source = made[index]!
          if (fate === 'still') add(rewriter.still(now, stillPicture))
          const packets = source.frame({
            ...frame,
            isBase: frame.isBase || frame.isKey,
            advance: ms * 90,
            text: `${index}`,
          })
          const before = waiting
          waiting = []
          for (const packet of packets) {
            if (fate === 'late') waiting.push({ source, packet })
            else if (fate !== 'lost') add(rewriter.forward(now, source, packet))
            if (fate === 'twice') expect(rewriter.forward(now, source, packet)).toBeUndefined()
          }
          for (const { source, packet } of before) add(rewriter.forward(now, source, packet))
        }
        reader.check()
        checkCuts(reader)
      }),
      { numRuns: 500 },
    )
  })

  it('of hostile packets never throws, repeats no number, and lets a good source continue', () => {
    const noise = fc.uint8Array({ maxLength: 40 })
    const change = fc.record({ at: fc.nat(24), to: fc.nat(255), isNoise: fc.boolean(), noise })
    fc.assert(
      fc.property(fc.array(change, { maxLength: 60 }), (changes) => {
        const rewriter = new Vp8Rewriter(seed)
        const reader = new Vp8Reader()
        const bad = new Vp8Source({ hasLayers: true })
        const add = (source: object, packet: Buffer, now: number) => {
          const sent = rewriter.forward(now, source, packet)
          if (sent) reader.add(sent)
          return sent
        }
        changes.forEach(({ at, to, isNoise, noise }, index) => {
          const [packet] = bad.frame({ isKey: index % 5 === 0 })
          if (at < packet!.length) packet![at] = to
          add(bad, isNoise ? Buffer.from(noise) : packet!, index * 33)
        })
        const good = new Vp8Source({ sequence: 7 })
        const now = changes.length * 33
        expect(add(good, good.frame({ isKey: true })[0]!, now)).toBeDefined()
        expect(add(good, good.frame()[0]!, now + 33)).toBeDefined()
        const [before, last] = reader.inOrder.slice(-2)
        expect(last).toMatchObject({ at: before!.at + 1, timestamp: before!.timestamp + 3000 })
      }),
      { numRuns: 1000 },
    )
  })
})
