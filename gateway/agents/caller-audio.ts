import { RateAdapter } from '../../media/rtp/rate-adapter.ts'
import type { PcmRate, TapFrame } from '../../media/types.ts'
import type { EngineLink } from './engine.ts'

/** Audio of the caller on its way to the engine: frames of 20 ms at the engine's rate, without gaps. */
export class CallerAudio {
  readonly #rate: PcmRate
  #adapter = new RateAdapter()
  /** Whether the engine hears silence instead: the conversation is on hold. */
  isMuted = false

  /** `rate`: sample rate of the frames in Hz. */
  constructor(rate: PcmRate) {
    this.#rate = rate
  }

  /** Gives a frame to an engine. */
  give({ samples }: TapFrame, link: EngineLink): void {
    if (this.isMuted) samples.fill(0)
    const converted = this.#adapter.convert(samples, this.#rate, link.inputRate)
    // The adapter reuses its array, and the engine may keep the audio until it is connected.
    link.hear(converted === samples ? samples : converted.slice())
  }
}
