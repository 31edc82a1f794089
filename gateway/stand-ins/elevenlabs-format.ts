import type { AudioFormat } from './audio-format.ts'
import { soundRateOf } from './sound-store.ts'

/**
 * Reads ElevenLabs' name of a format, such as `pcm_16000` or `ulaw_8000`; undefined if it is not
 * supported.
 */
export const elevenLabsFormat = (name: string | undefined): AudioFormat | undefined => {
  const [, coding, rate] = /^(pcm|ulaw|alaw)_(\d{4,5})$/.exec(name ?? '') ?? []
  const known = soundRateOf(Number(rate))
  if (!coding || !known) return undefined
  return { coding: coding === 'pcm' ? 'pcm' : coding === 'ulaw' ? 'PCMU' : 'PCMA', rate: known }
}
