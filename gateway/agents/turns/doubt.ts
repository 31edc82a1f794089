import type { VoiceTrack } from './voice-track.ts'

/**
 * Wait after the end of a short sound, in ms: until the detector reports the end. The agent then goes on
 * within 300 ms of the end, with the delay of the caller's audio, the rise and the next packet.
 */
const shortWaitMs = 200
/** Duration of voice, in ms, from which it is probably speech, and words are awaited longer. */
const longVoiceMs = 700
const longWaitMs = 600
/** The same for a recogniser that gives final recognitions only: its words come after the voice. */
const finalOnlyWaitMs = 1200
/** Longest doubt without words while voice goes on, in ms. */
const maxSilentMs = 2000
const maxFinalOnlyMs = 4000
/** Longest doubt in any case, in ms. */
const maxDoubtMs = 8000

/** Words over the agent's voice that did not interrupt. */
export interface DoubtfulWords {
  /** Whether there are words that are no acknowledgement. */
  readonly hasWords: boolean
  readonly isFinal: boolean
  readonly recognisedAt: number | undefined
  readonly speechEventMs: number
}

/**
 * Time at which a doubt that began at `since` ends, and the agent goes on, unless words interrupt before.
 * Voice alone never interrupts. The agent is faded meanwhile, so the caller does not hear the delay of the
 * decision. Words that come after the agent went on interrupt as well. So no cough or noise, however long,
 * ends an answer, and no interruption whose words are recognised is missed.
 */
export const endOfDoubt = (since: number, voice: VoiceTrack, words: DoubtfulWords): number => {
  const latest = since + maxDoubtMs
  // Words that are not final may yet interrupt.
  if (words.hasWords && !words.isFinal && words.recognisedAt !== undefined)
    return Math.min(latest, words.recognisedAt + words.speechEventMs)
  const silentLimit = since + (voice.isFinalOnly ? maxFinalOnlyMs : maxSilentMs)
  if (voice.isVoiced) {
    const recognisedAt = words.recognisedAt ?? since
    return Math.min(latest, Math.max(silentLimit, recognisedAt + maxSilentMs))
  }
  const endedAt = voice.endedAt ?? since
  const isLong = endedAt - (voice.beganAt ?? endedAt) >= longVoiceMs && words.recognisedAt === undefined
  const longWait = voice.isFinalOnly ? finalOnlyWaitMs : longWaitMs
  return Math.min(latest, endedAt + (isLong ? longWait : shortWaitMs))
}
