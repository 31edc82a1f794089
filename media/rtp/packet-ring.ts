import type { AudioCodec } from '../types.ts'

/** Capacity in packets; a power of two. */
export const ringPackets = 64
/** Maximum length of a kept payload: 60 ms of L16 at 16 kHz are 1920 bytes. */
export const maxPayload = 4096

/**
 * Index of an unused slot. The first packet has index 0; packets that it overtook have slightly lower ones.
 */
const unusedIndex = -0x40000000

/** Content of a kept packet: audio, comfort noise, or an event, which only occupies an index. */
export type Content = 'audio' | 'noise' | 'event'

/** Place for one packet; its buffer is reused. */
export interface PacketSlot {
  /** Index in the stream; {@link unusedIndex} before the first use. */
  index: number
  /** Whether the slot holds a packet that was not taken yet. */
  isWaiting: boolean
  content: Content
  codec: AudioCodec
  /** Media time, in ticks. */
  ticks: number
  /** Arrival time, in ms. */
  arrivedAt: number
  bytes: Uint8Array
  length: number
}

/** Slots of a jitter buffer, by packet index. */
export class PacketRing {
  #slots: PacketSlot[] = Array.from({ length: ringPackets }, () => ({
    index: unusedIndex,
    isWaiting: false,
    content: 'audio',
    codec: 'PCMU',
    ticks: 0,
    arrivedAt: 0,
    bytes: new Uint8Array(0),
    length: 0,
  }))

  /** Returns the slot of an index. */
  at(index: number): PacketSlot {
    return this.#slots[index & (ringPackets - 1)]!
  }

  /** Whether that packet has already arrived, as far as the ring remembers. */
  knows(index: number): boolean {
    return this.at(index).index === index
  }

  /** Marks a packet as arrived without keeping it. */
  note(index: number): void {
    const slot = this.at(index)
    if (!slot.isWaiting && slot.index < index) slot.index = index
  }

  /** Copies a payload into the slot of an index. */
  put(index: number, packet: Uint8Array, start: number, end: number): PacketSlot {
    const slot = this.at(index)
    const length = end - start
    // The buffer grows in steps, so that payloads of changing length (Opus) do not allocate each time.
    if (slot.bytes.length < length) slot.bytes = new Uint8Array((length + 63) & ~63)
    const { bytes } = slot
    for (let i = 0; i < length; i++) bytes[i] = packet[start + i]!
    slot.index = index
    slot.isWaiting = true
    slot.length = length
    return slot
  }
}
