import { describe, expect, it } from 'vitest'
import { TestClock } from '../../edge/testing/test-clock.ts'
import { HeldPicture } from '../../rooms/held-picture.ts'
import { Vp8Reader } from '../../rooms/testing/vp8-reader.ts'
import { type Frame, Vp8Source } from '../../rooms/testing/vp8-source.ts'
import type { PacketListener, PacketSource } from './feed.ts'
import { SourceSwitch } from './source-switch.ts'

/** Source of synthetic packets, which keeps its picture ready. */
class FakeFeed implements PacketSource {
  requests = 0
  readonly #held = new HeldPicture()
  readonly #source: Vp8Source
  readonly #listeners = new Set<PacketListener>()

  constructor(ssrc: number) {
    this.#source = new Vp8Source({ ssrc, timestamp: ssrc * 1e6, sequence: ssrc * 1000 })
  }

  get held(): readonly Buffer[] {
    return this.#held.packets()
  }

  attach(listener: PacketListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  requestKeyFrame(): void {
    this.requests++
  }

  send(frame: Frame, isHeld = false): void {
    for (const packet of this.#source.frame(frame)) {
      if (isHeld) this.#held.receive(packet)
      for (const listener of [...this.#listeners]) listener(packet)
    }
  }
}

const setUp = () => {
  const clock = new TestClock()
  const reader = new Vp8Reader()
  const sent: string[] = []
  const stream = new SourceSwitch({
    clock,
    send: (packet) => sent.push(reader.add(packet).data.toString()),
  })
  const first = new FakeFeed(1)
  stream.show(first)
  for (let i = 0; i < 3; i++, clock.advance(33)) first.send({ isKey: i === 0, text: 'a' })
  sent.length = 0
  return { clock, reader, sent, stream, first }
}

describe('a stream of changing sources', () => {
  it('waits for a key frame of the next source', () => {
    const { clock, reader, sent, stream, first } = setUp()
    const second = new FakeFeed(2)
    stream.show(second)
    expect(second.requests).toBe(1)
    first.send({ text: 'a' })
    second.send({ text: 'b' })
    clock.advance(33)
    second.send({ isKey: true, text: 'b' })
    first.send({ text: 'a' })
    expect(sent).toEqual(['Qa/0', 'Pb/0'])
    reader.check()
  })

  it('changes at once to a source that holds a picture', () => {
    const { clock, reader, sent, stream, first } = setUp()
    const second = new FakeFeed(2)
    for (let i = 0; i < 5; i++) second.send({ isKey: i === 0, text: `b${i}` }, true)
    stream.show(second)
    expect(second.requests).toBe(0)
    expect(sent).toEqual(['Pb0/0', 'Qb1/0', 'Qb2/0', 'Qb3/0', 'Qb4/0'])
    first.send({ text: 'a' })
    clock.advance(33)
    second.send({ text: 'c' })
    expect(sent.slice(5)).toEqual(['Qc/0'])
    reader.check()
    // The first frame follows with the time passed, the others within milliseconds.
    const times = reader.inOrder.slice(2).map(({ timestamp }) => timestamp)
    expect(times.slice(1).map((time, i) => time - times[i]!)).toEqual([2970, 90, 90, 90, 90, 3000])
  })
})
