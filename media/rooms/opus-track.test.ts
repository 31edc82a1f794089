import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { OpusTrack } from './opus-track.ts'

const silence = 'f8fffe'

/** Returns the packet of a stream with 20 ms; its payload has the number. */
const packetOf = (number: number, { ssrc = 7, first = 65_500, stamp = 2 ** 32 - 5000 } = {}): Buffer => {
  const head = Buffer.alloc(12)
  head[0] = 0x80
  head[1] = 111
  head.writeUInt16BE((first + number) & 0xffff, 2)
  head.writeUInt32BE((stamp + number * 960) >>> 0, 4)
  head.writeUInt32BE(ssrc, 8)
  return Buffer.concat([head, Buffer.of(0xf8, number >> 8, number & 0xff)])
}

const numberOf = (payload: string): number | undefined =>
  payload === silence ? undefined : Number.parseInt(payload.slice(2), 16)

/** A track with what it wrote, and a clock that calls it every 100 ms. */
class Rig {
  now = 1000
  readonly written: { readonly at: number; readonly payload: string }[] = []
  readonly track = new OpusTrack(1000, (at, packet) =>
    this.written.push({ at, payload: Buffer.from(packet).toString('hex') }),
  )

  pass(until: number): void {
    for (let next = (Math.floor(this.now / 100) + 1) * 100; next <= until; next += 100) this.track.tick(next)
    this.now = Math.max(this.now, until)
  }

  receive(at: number, packet: Buffer): void {
    this.pass(at)
    this.track.receive(at, packet)
  }

  /** Times of the packets by their numbers. */
  get times(): ReadonlyMap<number, number> {
    return new Map(
      this.written.flatMap(({ at, payload }) => {
        const number = numberOf(payload)
        return number === undefined ? [] : [[number, at] as const]
      }),
    )
  }
}

describe('a track of Opus', () => {
  it('has the packets of a steady stream at their times', () => {
    const rig = new Rig()
    for (let i = 0; i < 200; i++) rig.receive(1000 + i * 20, packetOf(i))
    expect(rig.written.map(({ at, payload }) => [at, numberOf(payload)])).toEqual(
      Array.from({ length: 200 }, (_, i) => [1000 + i * 20, i]),
    )
  })

  it('has silence until its first packet, and while none come', () => {
    const rig = new Rig()
    for (let i = 0; i < 50; i++) rig.receive(2000 + i * 20, packetOf(i))
    rig.pass(10_000)
    expect(rig.written.slice(0, 50).map(({ payload }) => payload)).toEqual(Array(50).fill(silence))
    expect(rig.times.get(0)).toBe(2000)
    const last = rig.written.at(-1)!
    expect([last.payload, last.at]).toEqual([silence, 9480])
    // The source has sent nothing for a while; its timestamps went on.
    rig.receive(10_000, packetOf(400))
    expect(rig.times.get(400)).toBe(10_000)
  })

  it('continues with another stream at the time of its arrival', () => {
    const rig = new Rig()
    for (let i = 0; i < 50; i++) rig.receive(1000 + i * 20, packetOf(i))
    for (let i = 100; i < 150; i++) rig.receive(2500 + (i - 100) * 20, packetOf(i, { ssrc: 8, stamp: 77 }))
    expect([rig.times.get(49), rig.times.get(100)]).toEqual([1980, 2500])
    expect(rig.written.filter(({ payload }) => payload === silence)).toHaveLength(25)
  })

  it('follows a stream whose numbers jump', () => {
    const rig = new Rig()
    for (let i = 0; i < 10; i++) rig.receive(1000 + i * 20, packetOf(i))
    for (let i = 10; i < 20; i++) rig.receive(1000 + i * 20, packetOf(i, { first: 100, stamp: 5 }))
    expect(rig.times.get(19)).toBe(1380)
  })

  it('ignores what is no RTP, and packets without content', () => {
    const rig = new Rig()
    rig.receive(1000, Buffer.of(1, 2, 3))
    rig.receive(1000, packetOf(0).subarray(0, 12))
    expect(rig.written).toEqual([])
  })

  it('is continuous, ordered, and at most the jitter off, for any jitter, loss and pauses', () => {
    const maxJitter = 80
    const step = fc.record({
      jitter: fc.integer({ min: 0, max: maxJitter }),
      isLost: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
      pause: fc.integer({ min: 0, max: 60 }).map((n) => (n === 0 ? 800 : 0)),
    })
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 150 }), (steps) => {
        const rig = new Rig()
        let paused = 0
        const sent = steps.map(({ jitter, isLost, pause }, i) => {
          paused += pause
          const at = 1000 + i * 20 + paused
          return { i, at, arrival: at + jitter, isLost, stamp: 2 ** 32 - 5000 + paused * 48 }
        })
        const arriving = sent.filter(({ isLost }) => !isLost).sort((a, b) => a.arrival - b.arrival)
        for (const { i, arrival, stamp } of arriving) rig.receive(arrival, packetOf(i, { stamp }))
        rig.pass(rig.now + 1000)
        let end = 1000
        for (const { at } of rig.written) {
          expect(at).toBeGreaterThanOrEqual(end - maxJitter - 20)
          expect(at - end).toBeLessThan(20)
          end = Math.max(end, at + 20)
        }
        expect(rig.written.every(({ at }, i) => i === 0 || at >= rig.written[i - 1]!.at)).toBe(true)
        for (const [i, at] of rig.times)
          expect(Math.abs(at - sent[i]!.at)).toBeLessThanOrEqual(maxJitter + 20)
        const numbers = [...rig.times.keys()]
        expect(numbers).toEqual([...numbers].sort((a, b) => a - b))
      }),
    )
  })
})
