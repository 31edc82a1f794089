import type { types } from 'mediasoup'

/**
 * SSRCs of a browser's encodings of simulcast, which its SDP does not name. The packets name their encoding
 * at first. Chromium leaves that out once it has received a report on the stream, also towards another
 * transport. Another producer of the same streams must therefore have the SSRCs.
 */
export class LearnedStreams {
  #origin = ''
  /** SSRCs by the RTP stream id of their encoding. */
  readonly #ssrcs = new Map<string, number>()

  /**
   * Learns the streams of a producer that ends. `origin`: equal for all producers of the same streams; those
   * of another origin are forgotten.
   */
  learn(origin: string, { score }: Pick<types.Producer, 'score'>): void {
    if (origin !== this.#origin) this.#ssrcs.clear()
    this.#origin = origin
    for (const { rid, ssrc } of score) if (rid !== undefined) this.#ssrcs.set(rid, ssrc)
  }

  /** Returns the encodings with the SSRCs that are known of this origin. */
  complete(
    origin: string,
    encodings: readonly types.RtpEncodingParameters[] = [],
  ): types.RtpEncodingParameters[] {
    return encodings.map((encoding) => {
      const { rid } = encoding
      const ssrc = rid !== undefined && origin === this.#origin ? this.#ssrcs.get(rid) : undefined
      return ssrc === undefined ? encoding : { ...encoding, ssrc }
    })
  }
}
