import type { AudioCodec, FarEnd } from '../types.ts'
import { wantedMs } from './encoding.ts'
import { canForward, clockRate } from './packet-duration.ts'

/**
 * Number of consecutive shorter packets that prove a new packet length: the last packet of an announcement is
 * often short.
 */
const minShorterPackets = 25

/** Format of a far end's recent packets: codec and length. */
export class PacketFormat {
  #codec: AudioCodec | undefined
  /** Length of a packet, in units of the codec's clock; 0: unknown. */
  #units = 0
  #shorter = 0

  /** Codec of the last packet, or the expected one; undefined if neither is known. */
  get codec(): AudioCodec | undefined {
    return this.#codec
  }

  /** Sets the codec that the far end is expected to send. */
  expect(codec: AudioCodec): void {
    if (codec === this.#codec) return
    this.#codec = codec
    this.#units = 0
    this.#shorter = 0
  }

  /** Processes an audio packet that covers `units`. Returns true if the format changes with this packet. */
  changes(codec: AudioCodec, units: number): boolean {
    if (codec === this.#codec) {
      if (units === this.#units) {
        this.#shorter = 0
        return false
      }
      if (units < this.#units && ++this.#shorter < minShorterPackets) return false
    }
    this.#codec = codec
    this.#units = units
    this.#shorter = 0
    return true
  }

  /** Whether packets of this format can be forwarded to `far` unchanged. */
  suits(far: FarEnd): boolean {
    if (!this.#codec) return true
    if (!canForward(this.#codec, far.codec)) return false
    const wanted = wantedMs(far)
    return wanted === undefined || this.#units === 0 || this.#units * 1000 === wanted * clockRate(far.codec)
  }
}
