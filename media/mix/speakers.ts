import { minLevelDb } from '../rtp/voice-activity.ts'
import type { MixerInput } from './mixer-input.ts'

/** Who speaks, and how loud. */
export interface Speaker {
  readonly id: number
  /** Smoothed over 200 ms, in dBov. */
  readonly levelDb: number
}

/** Share of a new frame in the smoothed level: 200 ms. */
const SHARE = 0.1
/** Where the smoothed level of somebody silent goes, in dBov. */
const SILENT_DB = -90
/** Smoothed, whoever is louder than this speaks, in dBov. */
const SPEAKS_DB = -60
/** Somebody else has to be louder than the active speaker by this, */
const LOUDER_DB = 6
/** for so many frames: 0.5 s, so that a cough changes nothing. */
const LOUDER_FRAMES = 25
/** So many frames after the last word of all there is no active speaker any more: 2 s. */
const KEPT_FRAMES = 100

/**
 * Finds the active speaker of a mixer. It stays the same while it speaks, unless somebody else is louder by 6 dB for half a second; once
 * it is silent whoever speaks takes its place, and it keeps it for 2 s while nobody does. Whisperers are not told of.
 */
export class Speakers {
  #inputs: readonly MixerInput[]
  #active: MixerInput | undefined
  #rival: MixerInput | undefined
  #rivalFrames = 0
  #silentFrames = 0

  /** `inputs` is the mixer's own list. */
  constructor(inputs: readonly MixerInput[]) {
    this.#inputs = inputs
  }

  /** Id of the active speaker; undefined when nobody has spoken for 2 s. */
  get active(): number | undefined {
    return this.#active?.id
  }

  /** At most `max` of those that speak, the loudest first. */
  loudest(max: number): Speaker[] {
    return this.#inputs
      .filter((input) => input.loudnessDb > SPEAKS_DB)
      .sort((a, b) => b.loudnessDb - a.loudnessDb)
      .slice(0, max)
      .map(({ id, loudnessDb }) => ({ id, levelDb: loudnessDb }))
  }

  /** Forgets somebody who left. */
  forget(input: MixerInput): void {
    if (this.#active === input) this.#active = undefined
    if (this.#rival === input) this.#rival = undefined
  }

  /** Takes the levels of one frame. For the mixer. */
  update(): void {
    const loudest = this.#measure()
    const active = this.#active
    if (!loudest) {
      this.#silentFrames++
      if (this.#silentFrames >= KEPT_FRAMES) this.#active = undefined
      return
    }
    this.#silentFrames = 0
    if (!active || active.loudnessDb <= SPEAKS_DB) this.#choose(loudest)
    else if (loudest === active || loudest.loudnessDb < active.loudnessDb + LOUDER_DB) this.#rival = undefined
    else if (loudest !== this.#rival) {
      this.#rival = loudest
      this.#rivalFrames = 1
    } else {
      this.#rivalFrames++
      if (this.#rivalFrames >= LOUDER_FRAMES) this.#choose(loudest)
    }
  }

  #choose(input: MixerInput): void {
    this.#active = input
    this.#rival = undefined
  }

  /** Smooths all levels; gives the loudest of those that speak. */
  #measure(): MixerInput | undefined {
    let loudest: MixerInput | undefined
    let most = SPEAKS_DB
    for (let i = 0; i < this.#inputs.length; i++) {
      const input = this.#inputs[i]!
      const level = input.whispers ? SILENT_DB : Math.max(SILENT_DB, input.levelDb)
      const before = input.loudnessDb === minLevelDb ? SILENT_DB : input.loudnessDb
      input.loudnessDb = before + (level - before) * SHARE
      if (input.loudnessDb <= most) continue
      most = input.loudnessDb
      loudest = input
    }
    return loudest
  }
}
