/** Options of {@link CallControl.startStream}. */
export interface StreamOptions {
  /** URL of the receiver: `ws:` or `wss:`, or `rtp://host:port?codec=PCMU` (or PCMA). */
  readonly url: string
  /** Name for {@link CallControl.stopStream}, unique among the running streams of the call; default none. */
  readonly name?: string
  /** Audio to stream: from the caller (`inbound`, the default), to the caller (`outbound`), or both. */
  readonly tracks?: 'inbound' | 'outbound' | 'both'
  /** Whether the caller hears the audio that the receiver returns; default false. */
  readonly bidirectional?: boolean
  /** Codec of a WebSocket stream: µ-law (default), A-law, G.722 at 64 kbit/s, or 16-bit little-endian PCM. */
  readonly codec?: 'PCMU' | 'PCMA' | 'G722' | 'L16'
  /** Sample rate of L16 in Hz; default 16,000. The rates of other codecs are fixed. */
  readonly sampleRate?: 8000 | 16_000 | 24_000 | 48_000
  /**
   * Duration of one message or packet, in milliseconds; default 20. WebSocket: 20 to 120 in steps of 20. RTP:
   * 10 to 60 in steps of 10.
   */
  readonly packetMs?: number
  /** Parameters that a WebSocket server receives at the start. */
  readonly parameters?: Readonly<Record<string, string>>
  /** Token that a WebSocket server receives as `Authorization: Bearer`. Secret. */
  readonly bearerToken?: string
}

/**
 * End of a stream. `stopped`: a verb stopped it, or the call ended. `closed`: the receiver closed it.
 * `failed`: the connection failed.
 */
export type StreamEnd =
  | { readonly kind: 'stopped' | 'closed' }
  | { readonly kind: 'failed'; readonly reason: string }

/** Running stream. */
export interface CallStream {
  readonly id: string
  /** End of the stream. Never rejects. */
  readonly ended: Promise<StreamEnd>
  /** Stops the stream. Idempotent. */
  stop(): void
}
