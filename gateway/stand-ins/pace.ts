import type { Clock } from '../core/clock.ts'
import { type Speech, wait } from './perform.ts'

/** Length of a piece of audio, in ms. */
const pieceMs = 100

/** Audio to send at a pace. */
export interface PacedAudio {
  readonly samples: Int16Array
  readonly rate: number
  readonly speech: Pick<Speech, 'pace' | 'cutMs'>
  readonly clock: Clock
  readonly signal: AbortSignal
  /** Length of a piece in ms; default 100. */
  readonly pieceMs?: number
}

/**
 * Sends audio in pieces, the first one at once. `share` is the part of the whole that was sent with this
 * piece. Resolves with the samples that were sent: fewer if the signal aborts, or the script cuts.
 */
export const sendPaced = async (
  audio: PacedAudio,
  send: (samples: Int16Array, share: number) => void,
): Promise<number> => {
  const { samples, rate, clock, signal } = audio
  const { pace, cutMs = Number.POSITIVE_INFINITY } = audio.speech
  const piece = ((audio.pieceMs ?? pieceMs) * rate) / 1000
  const end = Math.min(samples.length, (cutMs * rate) / 1000)
  const began = clock.now()
  let at = 0
  while (at < end && !signal.aborted) {
    const next = Math.min(at + piece, end)
    send(samples.subarray(at, next), next / samples.length)
    at = next
    // The pause is counted from the begin, so that late timers do not add up.
    if (pace > 0) await wait(clock, began + (at / rate / pace) * 1000 - clock.now(), signal)
  }
  return at
}
