import type { Clock, Timer } from '@trunkline/client'

/** `ring`: the phone is free. `knock`: a short tone during a call. */
export type Ringing = 'ring' | 'knock' | undefined

const periodMs = { ring: 3000, knock: 5000 } as const

/** Plays the sound of an incoming call. Browsers permit it after the first click or key press on the page. */
export class Ringer {
  readonly #clock: Clock
  readonly #audio: () => AudioContext
  #kind: Ringing
  #timer: Timer | undefined

  constructor(clock: Clock, audio: () => AudioContext) {
    this.#clock = clock
    this.#audio = audio
  }

  /** Starts, changes or stops the sound. Idempotent. */
  set(kind: Ringing): void {
    if (this.#kind === kind) return
    this.#kind = kind
    this.#timer?.cancel()
    if (kind) this.#repeat(kind)
  }

  #repeat(kind: 'ring' | 'knock'): void {
    const bursts = kind === 'ring' ? [0, 0.5] : [0]
    for (const at of bursts) this.#burst(at, kind === 'ring' ? 0.16 : 0.05)
    this.#timer = this.#clock.after(periodMs[kind], () => this.#repeat(kind))
  }

  // Two notes a fourth apart that fade in and out, without clicks at the ends.
  #burst(after: number, loudness: number): void {
    const audio = this.#audio()
    if (audio.state === 'suspended') void audio.resume().catch(() => {})
    const start = audio.currentTime + after
    const gain = audio.createGain()
    gain.gain.setValueAtTime(0, start)
    gain.gain.linearRampToValueAtTime(loudness, start + 0.03)
    gain.gain.setValueAtTime(loudness, start + 0.3)
    gain.gain.linearRampToValueAtTime(0, start + 0.4)
    gain.connect(audio.destination)
    for (const frequency of [587, 784]) {
      const tone = audio.createOscillator()
      tone.frequency.value = frequency
      tone.connect(gain)
      tone.start(start)
      tone.stop(start + 0.42)
    }
  }
}
