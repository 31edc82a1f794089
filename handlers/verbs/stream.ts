/** Audio of the call, given to somebody outside. */
export interface StreamOptions {
  /** `ws:` or `wss:`, or `rtp://host:port?codec=PCMU` (or PCMA). */
  readonly url: string
  /** By which {@link CallControl.stopStream} finds it; one of a name at a time. Default none. */
  readonly name?: string
  /** `inbound` is what the caller says, `outbound` what the caller hears. Default `inbound`. */
  readonly tracks?: 'inbound' | 'outbound' | 'both'
  /** The caller hears what comes back; default false. */
  readonly bidirectional?: boolean
  /** Of a WebSocket: µ-law (default), A-law, G.722 at 64 kbit/s, or 16 bit, little-endian. */
  readonly codec?: 'PCMU' | 'PCMA' | 'G722' | 'L16'
  /** Samples per second of L16; default 16,000. The others have what they have. */
  readonly sampleRate?: 8000 | 16_000 | 24_000 | 48_000
  /** Audio of one message or packet in ms: of a WebSocket 20 (default) to 120 in steps of 20, of RTP 10 to 60 in steps of 10. */
  readonly packetMs?: number
  /** Told to a WebSocket's server at the start. */
  readonly parameters?: Readonly<Record<string, string>>
  /** Sent to a WebSocket's server as `Authorization: Bearer`. A secret. */
  readonly bearerToken?: string
}

/** How a stream ended: by us (stopped, or the call is over), by the far side, or by a failure. */
export type StreamEnd =
  | { readonly kind: 'stopped' | 'closed' }
  | { readonly kind: 'failed'; readonly reason: string }

/** A stream in progress. */
export interface CallStream {
  readonly id: string
  /** Never rejects. */
  readonly ended: Promise<StreamEnd>
  /** Idempotent. */
  stop(): void
}
