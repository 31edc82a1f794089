import type { AudioCodec } from '../types.ts'

/** What is known of a stream that was heard. */
export interface Heard {
  readonly codec: AudioCodec
  /** Packets that came. */
  readonly received: number
  /** Packets that never came; below zero counts as none. */
  readonly lost: number
  /** Packets that came too late to be heard; default none. */
  readonly late?: number
  /** Interarrival jitter (RFC 3550 A.8), in ms. */
  readonly jitterMs: number
  /** Absent: unknown, and counted as nothing. */
  readonly roundTripMs?: number
  /** Mean delay of the jitter buffer in ms; default what one has that follows {@link jitterMs}. */
  readonly bufferMs?: number
  /** Whether lost sound is made up; default true. */
  readonly concealed?: boolean
}

/** Equipment impairment of a codec, and how well it bears loss (packet-loss robustness) with and without concealment. */
interface Impairment {
  readonly equipment: number
  readonly concealed: number
  readonly bare: number
}

/**
 * Of G.711: ITU-T G.113 appendix I. For the others there are no values on the scale of narrowband speech: G.722 and L16 lose nothing
 * against G.711 and bear loss much as it does, Opus at telephone rates loses a little, and conceals well.
 */
const impairments: Readonly<Record<AudioCodec, Impairment>> = {
  PCMU: { equipment: 0, concealed: 25.1, bare: 4.3 },
  PCMA: { equipment: 0, concealed: 25.1, bare: 4.3 },
  G722: { equipment: 0, concealed: 16, bare: 4.3 },
  L16: { equipment: 0, concealed: 25.1, bare: 4.3 },
  opus: { equipment: 3, concealed: 20, bare: 10 },
}

/** Of a connection without any fault, with the default values of ITU-T G.107. */
const BEST_RATING = 93.2
/** Time that a packet takes to be filled and a frame to be played, in ms. */
const PACKET_MS = 20
/** A jitter buffer that follows the jitter keeps so many times of it, and at least a packet. */
const BUFFERED_JITTERS = 2
/** From here on talkers get into each other's words, in ms (G.107's approximation for calls without echo). */
const NOTICED_MS = 177.3

const impairmentOfDelay = (ms: number): number => 0.024 * ms + 0.11 * Math.max(0, ms - NOTICED_MS)

const impairmentOfLoss = ({ codec, received, lost, late = 0, concealed = true }: Heard): number => {
  const missing = Math.max(0, lost) + Math.min(late, received)
  const percent = (missing * 100) / Math.max(1, received + Math.max(0, lost))
  const { equipment, concealed: borne, bare } = impairments[codec]
  return equipment + ((95 - equipment) * percent) / (percent + (concealed ? borne : bare))
}

/**
 * Mean opinion score from 1 to 4.5 by the E-model (ITU-T G.107), simplified: loss is taken as random, noise and echo as what G.107 has by
 * default. An estimate for comparing calls; nobody was asked.
 */
export const estimateMos = (heard: Heard): number => {
  const { jitterMs, roundTripMs = 0 } = heard
  const bufferMs = heard.bufferMs ?? Math.max(PACKET_MS, BUFFERED_JITTERS * jitterMs)
  const rating =
    BEST_RATING - impairmentOfDelay(roundTripMs / 2 + bufferMs + PACKET_MS) - impairmentOfLoss(heard)
  if (rating <= 0) return 1
  const score = 1 + 0.035 * rating + rating * (rating - 60) * (100 - rating) * 7e-6
  return Math.round(Math.min(4.5, Math.max(1, score)) * 100) / 100
}
