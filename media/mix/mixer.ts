import { framesPerSecond } from '../rtp/rate-adapter.ts'
import type { PcmRate, Talk } from '../types.ts'
import { defaultMixRate, type InputOptions, MixerInput } from './mixer-input.ts'
import { SpeakerDetector } from './speaker-detector.ts'

/**
 * Minimum number of inputs that may speak, from which on background noise is suppressed, because it would add
 * up. With fewer inputs everything passes.
 */
const minGatedInputs = 4

/** Called when an input begins or ends to talk. */
export type TalkListener = (id: number, talk: Talk) => void

/** Options of a {@link MixerCore}. */
export interface MixerCoreOptions {
  /** Rate of the mix; default {@link defaultMixRate}. */
  readonly rate?: PcmRate
  /** Also called for a talking input that is removed. Default none. */
  readonly onTalking?: TalkListener
}

/**
 * Mixes its inputs in frames of 20 ms: each input hears the sum of all others. The sum is computed
 * once, in 32 bits, over the active inputs. All silent inputs share one output; an active input gets the sum
 * minus its own audio.
 *
 * Sums are clipped. A limiter would be softer on simultaneous shouting, but needs look-ahead, which adds
 * delay, and modulates the other voices. Clipping leaves everything within 16 bits exact.
 */
export class MixerCore {
  /** Rate of the mix, in Hz. */
  readonly rate: PcmRate
  /** Active speaker and loudness of the inputs. */
  readonly speakers: SpeakerDetector
  #inputs: MixerInput[] = []
  #byId = new Map<number, MixerInput>()
  #sum: Int32Array
  /** Buffer for the sum that one input hears, in 32 bits. */
  #room: Int32Array
  #shared: Int16Array
  /** Number of voices in {@link #sum}, including the prompt. */
  #voices = 0
  #whisperers: MixerInput[] = []
  /** Inputs that are heard, but not by all. */
  #withheld: MixerInput[] = []
  #prompt: Int16Array | undefined
  #total: Int16Array | undefined

  /** Inputs that talked after the last mix. */
  readonly #talking = new Map<MixerInput, Talk>()
  #onTalking: TalkListener

  constructor({ rate = defaultMixRate, onTalking = () => {} }: MixerCoreOptions = {}) {
    const samples = rate / framesPerSecond
    this.rate = rate
    this.#sum = new Int32Array(samples)
    this.#room = new Int32Array(samples)
    this.#shared = new Int16Array(samples)
    this.#onTalking = onTalking
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
    const input = new MixerInput(id, options, this.rate)
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
    input.hearsTotal = false
    if (this.#talking.delete(input)) this.#onTalking(id, 'silent')
  }

  /**
   * Sets 20 ms of audio that all inputs hear in the next mix, including those that do not hear each other.
   * Undefined is silence, the default. The samples are not copied. Throws a RangeError unless there are 20 ms
   * of samples.
   */
  prompt(frame: Int16Array | undefined): void {
    const expected = this.#shared.length
    if (frame && frame.length !== expected)
      throw new RangeError(`a frame of ${expected} samples expected, found ${frame.length}`)
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
    for (let i = 0; i < inputs.length; i++) {
      const input = inputs[i]!
      input.output = this.#heardBy(input)
      input.hearsTotal = input.canHear && input.output === this.#total
      if (input.talk !== (this.#talking.get(input) ?? 'silent')) this.#reportTalk(input)
    }
    this.speakers.update()
    this.#prompt = undefined
  }

  #reportTalk(input: MixerInput): void {
    if (input.talk === 'silent') this.#talking.delete(input)
    else this.#talking.set(input, input.talk)
    this.#onTalking(input.id, input.talk)
  }

  /** Adds up the audio for all inputs. */
  #add(): void {
    const inputs = this.#inputs
    const gated = this.#talkers() >= minGatedInputs
    this.#whisperers.length = 0
    this.#withheld.length = 0
    this.#voices = 0
    this.#sum.fill(0)
    for (let i = 0; i < inputs.length; i++) {
      const input = inputs[i]!
      input.speak(gated)
      if (!input.sound) continue
      if (input.isWhispering) this.#whisperers.push(input)
      else {
        this.#voice(input.sound)
        if (input.isWithheld) this.#withheld.push(input)
      }
    }
    if (this.#prompt) this.#voice(this.#prompt)
  }

  #voice(samples: Int16Array): void {
    this.#voices++
    addTo(this.#sum, samples)
  }

  #talkers(): number {
    let count = 0
    for (let i = 0; i < this.#inputs.length; i++)
      if (this.#inputs[i]!.canSpeak && this.#inputs[i]!.isVoice) count++
    return count
  }

  #heardBy(input: MixerInput): Int16Array | undefined {
    if (!input.canHear) return this.#prompt
    const own = input.isWhispering ? undefined : input.sound
    const whispered = this.#isWhisperedTo(input)
    const unheard = this.#withheldFrom(input) + (own ? 1 : 0)
    if (unheard === 0 && !whispered) return this.#total
    if (unheard === this.#voices && !whispered) return undefined
    return this.#without(input, own)
  }

  /** Returns the number of voices that an input does not hear, beside its own. */
  #withheldFrom(input: MixerInput): number {
    let count = 0
    for (let i = 0; i < this.#withheld.length; i++) if (this.#withheld[i]!.isWithheldFrom(input)) count++
    return count
  }

  #isWhisperedTo(input: MixerInput): boolean {
    for (let i = 0; i < this.#whisperers.length; i++) if (this.#whisperers[i]!.whispersTo(input)) return true
    return false
  }

  /** Returns the sum without the audio that the input does not hear, and with what is whispered to it. */
  #without(input: MixerInput, own: Int16Array | undefined): Int16Array {
    const sum = this.#sum
    const out = input.own
    if (own && this.#whisperers.length === 0 && this.#withheld.length === 0) {
      for (let i = 0; i < out.length; i++) out[i] = clipped(sum[i]! - own[i]!)
      return out
    }
    const room = this.#room
    room.set(sum)
    if (own) subtractFrom(room, own)
    for (let k = 0; k < this.#withheld.length; k++) {
      const withheld = this.#withheld[k]!
      if (withheld.isWithheldFrom(input)) subtractFrom(room, withheld.sound!)
    }
    for (let k = 0; k < this.#whisperers.length; k++) {
      const whisperer = this.#whisperers[k]!
      if (whisperer.whispersTo(input)) addTo(room, whisperer.sound!)
    }
    clip(room, out)
    return out
  }
}

function addTo(sum: Int32Array, samples: Int16Array): void {
  for (let i = 0; i < sum.length; i++) sum[i] = sum[i]! + samples[i]!
}

function subtractFrom(sum: Int32Array, samples: Int16Array): void {
  for (let i = 0; i < sum.length; i++) sum[i] = sum[i]! - samples[i]!
}

function clip(sum: Int32Array, out: Int16Array): void {
  for (let i = 0; i < out.length; i++) out[i] = clipped(sum[i]!)
}

function clipped(sample: number): number {
  return sample > 32_767 ? 32_767 : Math.max(sample, -32_768)
}
