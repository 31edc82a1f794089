import { type InputOptions, MixerInput, mixFrameSamples } from './mixer-input.ts'
import { SpeakerDetector } from './speaker-detector.ts'

/**
 * Minimum number of inputs that may speak, from which on background noise is suppressed, because it would add
 * up. With fewer inputs everything passes.
 */
const minGatedInputs = 4

/**
 * Mixes its inputs in frames of 20 ms at 16 kHz: each input hears the sum of all others. The sum is computed
 * once, in 32 bits, over the active inputs. All silent inputs share one output; an active input gets the sum
 * minus its own audio.
 *
 * Sums are clipped. A limiter would be softer on simultaneous shouting, but needs look-ahead, which adds
 * delay, and modulates the other voices. Clipping leaves everything within 16 bits exact.
 */
export class MixerCore {
  /** Active speaker and loudness of the inputs. */
  readonly speakers: SpeakerDetector
  #inputs: MixerInput[] = []
  #byId = new Map<number, MixerInput>()
  #sum = new Int32Array(mixFrameSamples)
  /** Buffer for the sum that one input hears, in 32 bits. */
  #room = new Int32Array(mixFrameSamples)
  #shared = new Int16Array(mixFrameSamples)
  /** Number of voices in {@link #sum}, including the prompt. */
  #voices = 0
  #whisperers: MixerInput[] = []
  #prompt: Int16Array | undefined
  #total: Int16Array | undefined

  constructor() {
    this.speakers = new SpeakerDetector(this.#inputs)
  }

  /** Number of inputs. */
  get size(): number {
    return this.#inputs.length
  }

  /**
   * Last mix as heard by a silent input: all voices and the prompt, without whispers; undefined is silence.
   * Valid until the next mix.
   */
  get total(): Int16Array | undefined {
    return this.#total
  }

  /** Adds an input, or changes an existing one. `id` identifies it in `audibleTo` and in {@link speakers}. */
  add(id: number, options: InputOptions = {}): MixerInput {
    const known = this.#byId.get(id)
    if (known) {
      known.change(options)
      return known
    }
    const input = new MixerInput(id, options)
    this.#byId.set(id, input)
    this.#inputs.push(input)
    return input
  }

  /** Replaces the options of an input; no effect for an unknown one. */
  change(id: number, options: InputOptions): void {
    this.#byId.get(id)?.change(options)
  }

  /** Removes an input; no effect for an unknown one. */
  remove(id: number): void {
    const input = this.#byId.get(id)
    if (!input) return
    this.#byId.delete(id)
    this.#inputs.splice(this.#inputs.indexOf(input), 1)
    this.speakers.forget(input)
    input.output = undefined
  }

  /**
   * Sets 20 ms of audio that all inputs hear in the next mix, including those that do not hear each other.
   * Undefined is silence, the default. The samples are not copied. Throws a RangeError unless it has
   * {@link mixFrameSamples} samples.
   */
  prompt(frame: Int16Array | undefined): void {
    if (frame && frame.length !== mixFrameSamples)
      throw new RangeError(`a frame of ${mixFrameSamples} samples expected, found ${frame.length}`)
    this.#prompt = frame
  }

  /** Mixes the frames written since the last mix, and sets every input's output. Allocates nothing. */
  mix(): void {
    const inputs = this.#inputs
    this.#add()
    this.#total = undefined
    if (this.#voices > 0) {
      clip(this.#sum, this.#shared)
      this.#total = this.#shared
    }
    for (let i = 0; i < inputs.length; i++) inputs[i]!.output = this.#heardBy(inputs[i]!)
    this.speakers.update()
    this.#prompt = undefined
  }

  /** Adds up the audio for all inputs. */
  #add(): void {
    const inputs = this.#inputs
    const gated = this.#talkers() >= minGatedInputs
    this.#whisperers.length = 0
    this.#voices = 0
    this.#sum.fill(0)
    for (let i = 0; i < inputs.length; i++) {
      const input = inputs[i]!
      input.speak(gated)
      if (!input.sound) continue
      if (input.isWhispering) this.#whisperers.push(input)
      else this.#voice(input.sound)
    }
    if (this.#prompt) this.#voice(this.#prompt)
  }

  #voice(samples: Int16Array): void {
    this.#voices++
    addTo(this.#sum, samples)
  }

  #talkers(): number {
    let count = 0
    for (let i = 0; i < this.#inputs.length; i++) if (this.#inputs[i]!.canSpeak) count++
    return count
  }

  #heardBy(input: MixerInput): Int16Array | undefined {
    if (!input.canHear) return this.#prompt
    const own = input.isWhispering ? undefined : input.sound
    const whispered = this.#isWhisperedTo(input)
    if (!own && !whispered) return this.#total
    if (own && this.#voices === 1 && !whispered) return undefined
    return this.#without(input, own)
  }

  #isWhisperedTo(input: MixerInput): boolean {
    for (let i = 0; i < this.#whisperers.length; i++) if (this.#whisperers[i]!.whispersTo(input)) return true
    return false
  }

  /** Returns the sum without the input's own audio, and with what is whispered to it. */
  #without(input: MixerInput, own: Int16Array | undefined): Int16Array {
    const sum = this.#sum
    const out = input.own
    if (own && this.#whisperers.length === 0) {
      for (let i = 0; i < mixFrameSamples; i++) out[i] = clipped(sum[i]! - own[i]!)
      return out
    }
    const room = this.#room
    room.set(sum)
    if (own) for (let i = 0; i < mixFrameSamples; i++) room[i] = room[i]! - own[i]!
    for (let k = 0; k < this.#whisperers.length; k++) {
      const whisperer = this.#whisperers[k]!
      if (whisperer.whispersTo(input)) addTo(room, whisperer.sound!)
    }
    clip(room, out)
    return out
  }
}

function addTo(sum: Int32Array, samples: Int16Array): void {
  for (let i = 0; i < mixFrameSamples; i++) sum[i] = sum[i]! + samples[i]!
}

function clip(sum: Int32Array, out: Int16Array): void {
  for (let i = 0; i < mixFrameSamples; i++) out[i] = clipped(sum[i]!)
}

function clipped(sample: number): number {
  return sample > 32_767 ? 32_767 : Math.max(sample, -32_768)
}
