import type { BackgroundSound, PcmRate } from '../types.ts'
import { PromptSource } from './prompt-source.ts'

/**
 * Sound under the speech and the silence of one tap. It rises and falls within one frame, and waits while
 * other audio has precedence.
 */
export class Background {
  #source: PromptSource | undefined
  /** Former sound, in its last frame. */
  #fading: PromptSource | undefined
  #isAlone = false

  /** Whether a sound plays, or waits. */
  get isOn(): boolean {
    return this.#source !== undefined || this.#fading !== undefined
  }

  /** Whether the last frame contained this sound, and nothing else before it was mixed. */
  get isAlone(): boolean {
    return this.#isAlone
  }

  /** Begins a sound, in place of the present one; undefined ends that one. */
  set(sound: BackgroundSound | undefined): void {
    this.#source?.stop()
    if (this.#source && !this.#source.hasEnded) this.#fading = this.#source
    this.#source = sound && fadedIn(sound)
  }

  /**
   * Mixes the next 20 ms into `frame` of that rate, which is changed. Without a frame, returns its own one,
   * valid until the next call. Undefined if nothing is audible. `waits`: other audio has precedence; the
   * sound falls silent until the next call without it.
   */
  mix(frame: Int16Array | undefined, rate: PcmRate, waits: boolean): Int16Array | undefined {
    const source = this.#source
    if (waits) source?.pause()
    else source?.resume()
    const faded = this.#fading && add(frame, this.#fading.take(rate))
    this.#fading = undefined
    const mixed = source?.isAudible ? add(faded ?? frame, source.take(rate)) : (faded ?? frame)
    if (source?.hasEnded) this.#source = undefined
    this.#isAlone = frame === undefined && mixed !== undefined
    return mixed
  }
}

/** Returns the source of a sound, which begins with a rise. */
const fadedIn = ({ samples, sampleRate, loops, volumeDb }: BackgroundSound): PromptSource => {
  const source = new PromptSource(samples, sampleRate, loops ?? 0, volumeDb)
  source.fadeIn()
  return source
}

/** Adds `more` to the samples of `frame`, within the range; returns `more` if there is no frame. */
const add = (frame: Int16Array | undefined, more: Int16Array): Int16Array => {
  if (!frame) return more
  for (let i = 0; i < frame.length; i++)
    frame[i] = Math.max(-32_768, Math.min(32_767, frame[i]! + (more[i] ?? 0)))
  return frame
}
