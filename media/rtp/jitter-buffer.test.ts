import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { JitterBuffer } from './jitter-buffer.ts'
import { ringPackets } from './packet-ring.ts'
import { type TestPacket, TestReader } from './testing/jitter-reader.ts'

const startTime = 100_000

/** Packet of an even stream of 20 ms, PCMU, whose numbers wrap soon. */
const packet = (n: number): TestPacket => ({ mark: n, sequence: 65_530 + n, timestamp: 0xfffffc00 + 160 * n })

interface Arrival {
  readonly at: number
  readonly packet: TestPacket
}

/** Delivers packets at their times, and reads every 20 ms until 400 ms after the last. */
function play(arrivals: readonly Arrival[], reader = new TestReader(new JitterBuffer())): TestReader {
  const sorted = arrivals.toSorted((a, b) => a.at - b.at)
  const end = sorted.at(-1)!.at + 400
  let next = 0
  for (let now = startTime + 7; now < end; now += 20) {
    for (; next < sorted.length && sorted[next]!.at <= now; next++)
      reader.insert(sorted[next]!.at, sorted[next]!.packet)
    reader.read(now)
  }
  return reader
}

/** An even stream with changes: no arrival for some, a later one for others. */
const stream = (count: number, late: (n: number) => number | undefined = () => 0): Arrival[] =>
  Array.from({ length: count }, (_, n) => ({ n, late: late(n) }))
    .filter(({ late }) => late !== undefined)
    .map(({ n, late }) => ({ at: startTime + 20 * n + late!, packet: packet(n) }))

const numbers = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i)

describe('the jitter buffer', () => {
  it('returns an even stream unchanged, after 40 ms', () => {
    const { marks, delays, buffer, given } = play(stream(200))
    expect(marks).toEqual(numbers(0, 200))
    expect(Math.max(...delays)).toBeLessThan(60)
    expect(Math.min(...delays)).toBeGreaterThanOrEqual(40)
    expect(given.slice(5, 190).every((one) => typeof one === 'number')).toBe(true)
    expect([buffer.lost, buffer.late, buffer.duplicate, buffer.concealed]).toEqual([0, 0, 0, 0])
  })

  it('reorders packets, and drops duplicates', () => {
    const overtaking = stream(200, (n) => (n % 7 === 3 ? 25 : 0))
    const twice = overtaking.map(({ at, packet }) => ({ at: at + 15, packet }))
    const { marks, buffer } = play([...overtaking, ...twice])
    expect(marks).toEqual(numbers(0, 200))
    expect([buffer.lost, buffer.late, buffer.duplicate]).toEqual([0, 0, 200])
  })

  it('reports losses in their place', () => {
    const { given, buffer } = play(stream(100, (n) => (n === 50 || n === 70 || n === 71 ? undefined : 0)))
    const from = given.indexOf(49)
    expect(given.slice(from, from + 3)).toEqual([49, 'lost', 51])
    const second = given.indexOf(69)
    expect(given.slice(second, second + 3)).toEqual([69, 'lost', 72])
    expect(buffer.lost).toBe(3)
    expect(buffer.concealed).toBe(60 * 48)
  })

  it('drops late packets, and then increases the delay', () => {
    const { buffer, marks } = play(stream(300, (n) => (n > 100 && n % 8 === 0 ? 90 : 0)))
    expect(buffer.late).toBeGreaterThan(0)
    expect(buffer.targetMs).toBe(100)
    expect(marks.length + buffer.late).toBe(300)
    expect(buffer.lost).toBe(buffer.late)
  })

  it('distinguishes silence from loss', () => {
    // The far side sends nothing for 2 s, while its timestamps continue.
    const talk = numbers(0, 50).map((n) => ({ at: startTime + 20 * n, packet: packet(n) }))
    const more = numbers(50, 100).map((n) => ({
      at: startTime + 2000 + 20 * n,
      packet: { ...packet(n), timestamp: packet(n + 100).timestamp },
    }))
    const { marks, buffer, delays } = play([...talk, ...more])
    expect(marks).toEqual(numbers(0, 100))
    expect([buffer.lost, buffer.late, buffer.concealed]).toEqual([0, 0, 0])
    expect(Math.max(...delays)).toBeLessThan(60)
  })

  it('distinguishes events and comfort noise from loss', () => {
    const arrivals = stream(100).map(({ at, packet }, n) => {
      // Events carry the timestamp of their start.
      if (n >= 40 && n < 60)
        return { at, packet: { ...packet, content: 'event', timestamp: 0xfffffc00 + 160 * 40 } }
      return n === 70 ? { at, packet: { ...packet, content: 'noise' } } : { at, packet }
    }) as Arrival[]
    const { marks, buffer, given } = play(arrivals)
    expect(marks).toEqual([...numbers(0, 40), ...numbers(60, 70), ...numbers(71, 100)])
    expect(given[given.indexOf(69) + 1]).toBe('noise')
    expect([buffer.lost, buffer.late]).toEqual([0, 0])
  })

  it('continues over a new source and timestamp jumps without a gap', () => {
    const arrivals = stream(300).map(({ at, packet }, n) => {
      if (n < 100) return { at, packet }
      if (n < 200) return { at, packet: { ...packet, ssrc: 2, sequence: n + 7, timestamp: 160 * n } }
      return { at, packet: { ...packet, ssrc: 2, sequence: n + 7, timestamp: 3_000_000 + 160 * n } }
    })
    const { marks, buffer, given } = play(arrivals)
    expect(marks).toEqual(numbers(0, 300))
    expect([buffer.lost, buffer.late]).toEqual([0, 0])
    expect(given.slice(given.indexOf(0), given.indexOf(299)).every((one) => typeof one === 'number')).toBe(
      true,
    )
  })

  it('catches up after a stall, and keeps a bounded number of packets', () => {
    // Nothing arrives for 3 s; then everything at once.
    const { marks, delays, buffer } = play(stream(500, (n) => (n >= 100 && n < 250 ? (250 - n) * 20 : 0)))
    expect(marks.at(-1)).toBe(499)
    expect(Math.max(...delays)).toBeLessThan(300)
    // Everything that follows is played.
    expect(marks.filter((mark) => mark >= 260)).toEqual(numbers(260, 500))
    expect(marks.filter((mark) => mark >= 100 && mark < 250).length).toBeLessThan(ringPackets)
    expect(buffer.targetMs).toBeLessThanOrEqual(200)
  })

  it('recovers after a stream with another timestamp rate', () => {
    // Some senders count G.722 at 16 kHz, twice as fast as required.
    const { marks } = play(
      stream(200).map(({ at, packet }, n) => ({ at, packet: { ...packet, timestamp: 320 * n } })),
    )
    expect(marks.length).toBeGreaterThan(190)
  })
})

const arrivals = fc
  .array(
    fc.record({
      lost: fc.boolean().map((a) => a),
      late: fc.integer({ min: 0, max: 180 }),
      copies: fc.array(fc.integer({ min: 0, max: 400 }), { maxLength: 2 }),
    }),
    { minLength: 1, maxLength: 150 },
  )
  .map((fates) =>
    fates.flatMap(({ lost, late, copies }, n) => {
      const at = startTime + 20 * n
      if (lost && n % 3 === 1) return []
      return [late, ...copies.map((more) => late + more)].map((ms) => ({ at: at + ms, packet: packet(n) }))
    }),
  )
  .filter((all) => all.length > 0)

describe('the jitter buffer with arbitrary input', () => {
  it('releases packets in order, once, and not late', () => {
    fc.assert(
      fc.property(arrivals, (all) => {
        const { marks, delays, buffer } = play(all)
        const came = new Set(all.map(({ packet }) => packet.mark))
        for (let i = 1; i < marks.length; i++) expect(marks[i]).toBeGreaterThan(marks[i - 1]!)
        expect(marks.every((mark) => came.has(mark))).toBe(true)
        // The maximum delay, the backlog in front, and the time until it is read.
        expect(Math.max(0, ...delays)).toBeLessThanOrEqual(200 + 40 + 20)
        expect(marks.length + buffer.late).toBe(came.size)
        expect(buffer.duplicate).toBe(all.length - came.size)
      }),
      { numRuns: 300 },
    )
  })

  it('survives any numbers', () => {
    const anything = fc.array(
      fc.record({
        wait: fc.integer({ min: 0, max: 3000 }),
        ssrc: fc.integer({ min: 1, max: 2 }),
        sequence: fc.oneof(fc.integer({ min: 0, max: 0xffff }), fc.integer({ min: 0, max: 40 })),
        timestamp: fc.oneof(fc.integer({ min: 0, max: 0xffffffff }), fc.integer({ min: 0, max: 8000 })),
        content: fc.constantFrom('audio' as const, 'noise' as const, 'event' as const),
        clockRate: fc.constantFrom(8000, 16_000, 48_000),
      }),
      { minLength: 1, maxLength: 100 },
    )
    fc.assert(
      fc.property(anything, (all) => {
        const reader = new TestReader(new JitterBuffer())
        let now = startTime
        for (const [mark, { wait, ...rest }] of all.entries()) {
          const until = now + wait
          for (; now < until; now += 20) reader.read(now)
          reader.insert(now, { mark, ...rest })
        }
        // A valid stream afterwards is played.
        const from = now
        for (let n = 0; n < 100; n++, now += 20) {
          reader.insert(now, { mark: 1000 + n, sequence: 500 + n, timestamp: 160 * n, ssrc: 3 })
          reader.read(now)
        }
        expect(now - from).toBe(2000)
        expect(reader.marks.filter((mark) => mark >= 1000).length).toBeGreaterThan(80)
        expect(reader.marks.length).toBe(new Set(reader.marks).size)
        const { buffer } = reader
        for (const count of [buffer.lost, buffer.late, buffer.concealed])
          expect(count).toBeGreaterThanOrEqual(0)
      }),
      { numRuns: 300 },
    )
  })
})
