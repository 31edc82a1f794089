import { minLevelDb } from '../rtp/voice-activity.ts'
import type { MixerInput } from './mixer-input.ts'

/** Speaking input and its level. */
export interface Speaker {
  readonly id: number
  /** Level smoothed over 200 ms, in dBov. */
  readonly levelDb: number
}

/** Weight of a new frame in the smoothed level: 200 ms. */
const newFrameShare = 0.1
/** Smoothed level of a silent input, in dBov. */
const silentDb = -90
/** Smoothed level above which an input counts as speaking, in dBov. */
const minSpeakingDb = -60
/** Level in dB by which another input must exceed the active speaker. */
const minLouderDb = 6
/** Number of frames for which it must be louder: 0.5 s, so that a cough changes nothing. */
const minLouderFrames = 25
/** Frames of silence after which there is no active speaker: 2 s. */
const maxSilentFrames = 100

/**
 * Finds the active speaker of a mixer. The speaker changes if another input is 6 dB louder for half a second.
 * If the speaker is silent and another input speaks, the speaker changes at once. In general silence, the
 * speaker remains active for 2 s. Whispering inputs, and those that are no voice, are ignored.
 */
export class SpeakerDetector {
  #inputs: readonly MixerInput[]
  #active: MixerInput | undefined
  #rival: MixerInput | undefined
  #rivalFrames = 0
  #silentFrames = 0

  /** `inputs` is the mixer's own list. */
  constructor(inputs: readonly MixerInput[]) {
    this.#inputs = inputs
  }

  /** Id of the active speaker; undefined after 2 s of silence. */
  get active(): number | undefined {
    return this.#active?.id
  }

  /** Returns at most `max` speaking inputs, the loudest first. */
  loudest(max: number): Speaker[] {
    return this.#inputs
      .filter((input) => input.loudnessDb > minSpeakingDb)
      .sort((a, b) => b.loudnessDb - a.loudnessDb)
      .slice(0, max)
      .map(({ id, loudnessDb }) => ({ id, levelDb: loudnessDb }))
  }

  /** Removes an input that left. */
  forget(input: MixerInput): void {
    if (this.#active === input) this.#active = undefined
    if (this.#rival === input) this.#rival = undefined
  }

  /** Evaluates the levels of one frame. Called by the mixer. */
  update(): void {
    const loudest = this.#measure()
    const active = this.#active
    if (!loudest) {
      this.#silentFrames++
      if (this.#silentFrames >= maxSilentFrames) this.#active = undefined
      return
    }
    this.#silentFrames = 0
    if (!active || active.loudnessDb <= minSpeakingDb) this.#choose(loudest)
    else if (loudest === active || loudest.loudnessDb < active.loudnessDb + minLouderDb)
      this.#rival = undefined
    else if (loudest !== this.#rival) {
      this.#rival = loudest
      this.#rivalFrames = 1
    } else {
      this.#rivalFrames++
      if (this.#rivalFrames >= minLouderFrames) this.#choose(loudest)
    }
  }

  #choose(input: MixerInput): void {
    this.#active = input
    this.#rival = undefined
  }

  /** Smooths all levels. Returns the loudest speaking input. */
  #measure(): MixerInput | undefined {
    let loudest: MixerInput | undefined
    let most = minSpeakingDb
    for (let i = 0; i < this.#inputs.length; i++) {
      const input = this.#inputs[i]!
      const level = input.isWhispering || !input.isVoice ? silentDb : Math.max(silentDb, input.levelDb)
      const before = input.loudnessDb === minLevelDb ? silentDb : input.loudnessDb
      input.loudnessDb = before + (level - before) * newFrameShare
      if (input.loudnessDb <= most) continue
      most = input.loudnessDb
      loudest = input
    }
    return loudest
  }
}
