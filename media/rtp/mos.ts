import type { AudioCodec } from '../types.ts'

/** Statistics of a received stream. */
export interface ReceivedStream {
  readonly codec: AudioCodec
  /** Number of packets received. */
  readonly received: number
  /** Number of packets lost; a negative number counts as 0. */
  readonly lost: number
  /** Number of packets that arrived too late for playout; default 0. */
  readonly late?: number
  /** Interarrival jitter (RFC 3550 A.8), in ms. */
  readonly jitterMs: number
  /** Round trip in ms; absent: unknown, counts as 0. */
  readonly roundTripMs?: number
  /** Mean delay of the jitter buffer in ms; default: estimated from {@link jitterMs}. */
  readonly bufferMs?: number
  /** Whether losses are concealed; default true. */
  readonly isConcealed?: boolean
}

/** Equipment impairment of a codec, and its packet-loss robustness with and without concealment. */
interface Impairment {
  readonly equipment: number
  readonly concealed: number
  readonly bare: number
}

/**
 * Values of G.711: ITU-T G.113 appendix I. No values exist for the others on the narrowband scale. G.722 and
 * L16 are close to G.711; Opus at telephone rates loses a little and conceals well.
 */
const impairments: Readonly<Record<AudioCodec, Impairment>> = {
  PCMU: { equipment: 0, concealed: 25.1, bare: 4.3 },
  PCMA: { equipment: 0, concealed: 25.1, bare: 4.3 },
  G722: { equipment: 0, concealed: 16, bare: 4.3 },
  L16: { equipment: 0, concealed: 25.1, bare: 4.3 },
  opus: { equipment: 3, concealed: 20, bare: 10 },
}

/** Rating of a connection without impairments, with the default values of ITU-T G.107. */
const maxRating = 93.2
/** Time to fill a packet and to play a frame, in ms. */
const packetMs = 20
/** Delay of an adaptive jitter buffer as a multiple of the jitter; at least one packet. */
const bufferedJitters = 2
/** Delay from which conversation suffers, in ms (G.107's approximation for calls without echo). */
const noticeableMs = 177.3

const impairmentOfDelay = (ms: number): number => 0.024 * ms + 0.11 * Math.max(0, ms - noticeableMs)

const impairmentOfLoss = ({
  codec,
  received,
  lost,
  late = 0,
  isConcealed: concealed = true,
}: ReceivedStream): number => {
  const missing = Math.max(0, lost) + Math.min(late, received)
  const percent = (missing * 100) / Math.max(1, received + Math.max(0, lost))
  const { equipment, concealed: borne, bare } = impairments[codec]
  return equipment + ((95 - equipment) * percent) / (percent + (concealed ? borne : bare))
}

/**
 * Mean opinion score from 1 to 4.5 by the E-model (ITU-T G.107), simplified: random loss, and default noise
 * and echo. An estimate for comparing calls.
 */
export const estimateMos = (heard: ReceivedStream): number => {
  const { jitterMs, roundTripMs = 0 } = heard
  const bufferMs = heard.bufferMs ?? Math.max(packetMs, bufferedJitters * jitterMs)
  const rating =
    maxRating - impairmentOfDelay(roundTripMs / 2 + bufferMs + packetMs) - impairmentOfLoss(heard)
  if (rating <= 0) return 1
  const score = 1 + 0.035 * rating + rating * (rating - 60) * (100 - rating) * 7e-6
  return Math.round(Math.min(4.5, Math.max(1, score)) * 100) / 100
}
