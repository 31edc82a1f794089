import { randomInt } from 'node:crypto'
import type { types } from 'mediasoup'

/**
 * SSRCs of a browser's encodings of simulcast, which its SDP does not name. The packets name their encoding
 * at first. Chromium leaves that out once it has received a report on the stream, also towards another
 * transport. Another producer of the same streams must therefore have the SSRCs.
 */
export class LearnedStreams {
  #origin = ''
  /** SSRCs by the index of their encoding. */
  readonly #ssrcs = new Map<number, number>()

  /**
   * Learns the streams of a producer that ends. `origin`: equal for all producers of the same streams; those
   * of another origin are forgotten.
   */
  learn(origin: string, { score }: Pick<types.Producer, 'score'>): void {
    if (origin !== this.#origin) this.#ssrcs.clear()
    this.#origin = origin
    for (const { encodingIdx, ssrc } of score) this.#ssrcs.set(encodingIdx, ssrc)
  }

  /**
   * Returns the encodings with an SSRC each. A known SSRC of this origin takes the place of the RTP stream
   * id. Otherwise it is a random one, which no packet has.
   *
   * mediasoup ends its process when a second stream of an encoding begins. It prevents that for encodings
   * with a stream id alone, but takes an encoding without SSRC for one of SSRC 0.
   */
  complete(
    origin: string,
    encodings: readonly types.RtpEncodingParameters[] = [],
  ): types.RtpEncodingParameters[] {
    return encodings.map(({ rid, ...encoding }, index) => {
      // The only stream of an m-line, whose SSRC a browser may change.
      if (rid === undefined) return encoding
      const known = origin === this.#origin ? this.#ssrcs.get(index) : undefined
      return known === undefined
        ? { ...encoding, rid, ssrc: randomInt(1, 2 ** 32) }
        : { ...encoding, ssrc: known }
    })
  }
}
