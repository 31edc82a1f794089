import type { AudioCodec, FarEnd } from '../types.ts'
import { wantedMs } from './encoding.ts'
import { clockRate, passes } from './span.ts'

/** Packets in a row after which it is believed that they have become shorter: the last one of an announcement often is. */
const SHORTER_PACKETS = 25

/** Which packets a far end sends of late: of which codec, and how long. */
export class PacketForm {
  #codec: AudioCodec | undefined
  /** What one covers, in units of the codec's clock; 0: not known. */
  #units = 0
  #shorter = 0

  /** The codec that it is going to send, as far as is known. */
  expect(codec: AudioCodec): void {
    if (codec === this.#codec) return
    this.#codec = codec
    this.#units = 0
    this.#shorter = 0
  }

  /** Takes notice of a packet of audio, which covers `units`. True: from this one on they are others than before. */
  changes(codec: AudioCodec, units: number): boolean {
    if (codec === this.#codec) {
      if (units === this.#units) {
        this.#shorter = 0
        return false
      }
      if (units < this.#units && ++this.#shorter < SHORTER_PACKETS) return false
    }
    this.#codec = codec
    this.#units = units
    this.#shorter = 0
    return true
  }

  /** Whether such packets can be passed on to `far` as they are. */
  suits(far: FarEnd): boolean {
    if (!this.#codec) return true
    if (!passes(this.#codec, far.codec)) return false
    const wanted = wantedMs(far)
    return wanted === undefined || this.#units === 0 || this.#units * 1000 === wanted * clockRate(far.codec)
  }
}
