import { goertzel } from '../codecs/tone.ts'
import { dtmfFrequencies } from '../rtp/tone-bank.ts'
import { minLevelDb, VoiceActivityDetector } from '../rtp/voice-activity.ts'
import type { PcmRate } from '../types.ts'

/**
 * Distance in dB from the quietest frame of the last second below which audio is no voice: excludes steady
 * noise and tones after that time.
 */
const aboveQuietestDb = 6
const levelFrames = 50
/** Minimum share of a frame's power that two tones of DTMF have. */
const minToneShare = 0.75

/** Decides for each frame of 20 ms whether it is voice, by its level; tones of DTMF are none. */
export class VoiceMeter {
  #rate: PcmRate
  #level = new VoiceActivityDetector()
  /** Levels of the last second in dBov, as a ring. */
  #levels = new Float64Array(levelFrames).fill(minLevelDb)
  #at = 0

  /** `rate` of the frames, in Hz. */
  constructor(rate: PcmRate) {
    this.#rate = rate
  }

  /** Level of the last frame, in dBov. */
  get levelDb(): number {
    return this.#level.levelDb
  }

  /** Processes 20 ms; undefined is silence. Returns whether it is voice. */
  update(frame: Int16Array | undefined): boolean {
    const isLoud = this.#level.update(frame)
    const { levelDb } = this
    this.#levels[this.#at] = levelDb
    this.#at = (this.#at + 1) % levelFrames
    if (!isLoud || !frame) return false
    for (let i = 0; i < levelFrames; i++)
      if (this.#levels[i]! < levelDb - aboveQuietestDb) return !isDtmf(frame, this.#rate)
    return false
  }
}

/** Whether a tone of each group of DTMF has most of the power. A single frame of a voice rarely passes. */
function isDtmf(frame: Int16Array, rate: PcmRate): boolean {
  let row = 0
  let column = 0
  for (let i = 0; i < dtmfFrequencies.length; i++) {
    const share = goertzel(frame, dtmfFrequencies[i]!, rate)
    if (i < 4) row = Math.max(row, share)
    else column = Math.max(column, share)
  }
  return row > 0.1 && column > 0.1 && row + column > minToneShare
}
