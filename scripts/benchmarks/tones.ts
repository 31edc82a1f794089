/** Tones with silence between them, and their delays. */
import { sine } from '../../media/codecs/tone.ts'
import type { PcmRate } from '../../media/types.ts'

/** Packets of a tone with the silence after it: 60 and 440 ms. */
const toneMs = 60
const cycleMs = 500
const packetMs = 20
const minAmplitude = 1000

/** Returns the samples of a tone with the silence after it. */
export const toneCycle = (rate: PcmRate): Int16Array => {
  const samples = new Int16Array((rate * cycleMs) / 1000)
  samples.set(sine(1000, toneMs, rate))
  return samples
}

/** Sender of tones with silence between them. */
export class Tones {
  /** Times at which tones began. */
  readonly at: number[] = []
  readonly #timer: NodeJS.Timeout
  readonly #began = performance.now()
  /** Media time of the next packet. */
  #ms = 0

  /** Sends the payloads of a cycle again and again, each with its media time in ms. */
  constructor(payloads: readonly Uint8Array[], send: (payload: Uint8Array, ms: number) => void) {
    let sent = 0
    this.#timer = setInterval(() => {
      for (; performance.now() - this.#began >= this.#ms; this.#ms += packetMs) {
        const at = sent++ % payloads.length
        if (at === 0) this.at.push(performance.now())
        send(payloads[at]!, this.#ms)
      }
    }, 1)
  }

  /** Pauses: what follows meets the mixer at another moment of its 20 ms. */
  pause(ms: number): void {
    this.#ms += ms
  }

  stop(): void {
    clearInterval(this.#timer)
  }
}

/** Times at which tones begin in decoded audio. */
export class Ear {
  readonly heardAt: number[] = []
  #quietPackets = Number.POSITIVE_INFINITY

  /** Processes the samples of 20 ms. */
  hear(samples: Int16Array): void {
    if (samples.some((sample) => Math.abs(sample) > minAmplitude)) {
      if (this.#quietPackets > 5) this.heardAt.push(performance.now())
      this.#quietPackets = 0
    } else this.#quietPackets++
  }

  /** Returns the delays of tones after `since` that were heard. */
  delays(tonesAt: readonly number[], since: number): number[] {
    return this.heardAt
      .filter((at) => at > since + cycleMs)
      .map((at) => at - tonesAt.findLast((given) => given <= at)!)
  }
}
