import { randomInt } from 'node:crypto'
import { headerBytes, writeRtpHeader } from '../rtp/packet.ts'

/** Units of timestamps of Opus per ms (RFC 7587 section 4.1). */
const unitsPerMs = 48

/** RTP stream of Opus packets whose times are known. */
export class OpusPacketizer {
  readonly ssrc = randomInt(1, 2 ** 32 - 1)
  readonly #payloadType: number
  #sequence = randomInt(0x10000)
  readonly #timestamp = randomInt(2 ** 32)

  constructor(payloadType: number) {
    this.#payloadType = payloadType
  }

  /** Returns the RTP packet of a packet of Opus. `atMs`: its time in the stream. `marker`: after a pause. */
  packetize(data: Uint8Array, atMs: number, marker: boolean): Buffer {
    const packet = Buffer.allocUnsafe(headerBytes + data.length)
    writeRtpHeader(packet, 0, {
      payloadType: this.#payloadType,
      marker,
      sequence: this.#sequence,
      timestamp: (this.#timestamp + Math.round(atMs * unitsPerMs)) % 0x1_0000_0000,
      ssrc: this.ssrc,
    })
    packet.set(data, headerBytes)
    this.#sequence = (this.#sequence + 1) & 0xffff
    return packet
  }
}
