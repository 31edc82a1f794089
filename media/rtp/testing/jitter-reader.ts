import type { AudioCodec } from '../../types.ts'
import type { JitterBuffer } from '../jitter-buffer.ts'
import type { Content } from '../packet-ring.ts'
import { ticksPerMs } from '../timeline.ts'

const pieceTicks = 10 * ticksPerMs

/** Output of one read, in order: a packet's mark, or the kind of filling. */
export type Given = number | 'wait' | 'gap' | 'lost' | 'noise'

/** Packet for tests of the jitter buffer; its payload is a mark. */
export interface TestPacket {
  readonly mark: number
  readonly sequence: number
  readonly timestamp: number
  readonly ssrc?: number
  readonly content?: Content
  readonly clockRate?: number
}

/** Reads a jitter buffer every 20 ms as a playout does, and records the output. */
export class TestReader {
  readonly buffer: JitterBuffer
  readonly given: Given[] = []
  /** Delay of each released packet from its arrival, in ms. */
  readonly delays: number[] = []
  #packetTicks: number
  #queued = 0

  /** `packetMs` is the duration of every packet. */
  constructor(buffer: JitterBuffer, packetMs = 20) {
    this.buffer = buffer
    this.#packetTicks = packetMs * ticksPerMs
  }

  insert(now: number, packet: TestPacket): void {
    const { mark, sequence, timestamp, ssrc = 1, content = 'audio', clockRate = 8000 } = packet
    const codec: AudioCodec = 'PCMU'
    const incoming = { content, codec, ssrc, sequence: sequence & 0xffff, timestamp: timestamp >>> 0 }
    const bytes = Uint8Array.of(mark >> 16, mark >> 8, mark)
    this.buffer.insert(
      now,
      { ...incoming, clockRate: content === 'event' ? undefined : clockRate },
      bytes,
      0,
      3,
    )
  }

  /** Reads 20 ms. */
  read(now: number): void {
    for (; this.#queued < 2 * pieceTicks; ) this.#take(now)
    this.#queued -= 2 * pieceTicks
  }

  /** Marks of the released packets. */
  get marks(): number[] {
    return this.given.filter((one) => typeof one === 'number')
  }

  #take(now: number): void {
    const { buffer } = this
    const next = buffer.next(now)
    const head = buffer.head
    if (next === 'audio') {
      this.given.push((head!.bytes[0]! << 16) | (head!.bytes[1]! << 8) | head!.bytes[2]!)
      this.delays.push(now - head!.arrivedAt)
      buffer.advance(this.#packetTicks, false)
      this.#queued += this.#packetTicks
      return
    }
    this.given.push(next)
    if (next === 'noise') return
    const ticks = next === 'lost' ? Math.min(buffer.missing, 3 * this.#packetTicks) : pieceTicks
    if (next === 'lost') buffer.advance(ticks, true)
    else if (next === 'wait') buffer.hold(ticks)
    this.#queued += ticks
  }
}
