import type { AudioCodec } from '../types.ts'

/** Packets that are kept at most; a power of two. */
export const RING_PACKETS = 64
/** Longest payload that is kept: 60 ms of L16 at 16 kHz are 1920 bytes. */
export const MAX_PAYLOAD = 4096

/** No packet's number: the first has 0, and those that it overtook a little less. */
const UNUSED = -0x40000000

/** What a kept packet is: audio, comfort noise, or one that only holds a number (an event). */
export type Content = 'audio' | 'noise' | 'event'

/** A place for one packet; its buffer is used again. */
export interface Slot {
  /** Number in the line; {@link UNUSED} before the first use. */
  index: number
  /** Holds a packet that was not taken yet. */
  waiting: boolean
  content: Content
  codec: AudioCodec
  /** Media time, in ticks. */
  ticks: number
  /** When it came, in ms. */
  arrivedAt: number
  bytes: Uint8Array
  length: number
}

/** The places of a jitter buffer, by a packet's number in the line. */
export class PacketRing {
  #slots: Slot[] = Array.from({ length: RING_PACKETS }, () => ({
    index: UNUSED,
    waiting: false,
    content: 'audio',
    codec: 'PCMU',
    ticks: 0,
    arrivedAt: 0,
    bytes: new Uint8Array(0),
    length: 0,
  }))

  /** Where that packet is, or would be. */
  at(index: number): Slot {
    return this.#slots[index & (RING_PACKETS - 1)]!
  }

  /** Whether that packet came already, be it taken or not, as far as is remembered. */
  knows(index: number): boolean {
    return this.at(index).index === index
  }

  /** Remembers that this packet came, though it is not kept. */
  note(index: number): void {
    const slot = this.at(index)
    if (!slot.waiting && slot.index < index) slot.index = index
  }

  /** Copies a payload into that packet's place. */
  put(index: number, packet: Uint8Array, start: number, end: number): Slot {
    const slot = this.at(index)
    const length = end - start
    // Grows in steps, so that payloads of changing length (Opus) do not make a new buffer each time.
    if (slot.bytes.length < length) slot.bytes = new Uint8Array((length + 63) & ~63)
    const { bytes } = slot
    for (let i = 0; i < length; i++) bytes[i] = packet[start + i]!
    slot.index = index
    slot.waiting = true
    slot.length = length
    return slot
  }
}
