import { type InputOptions, MIX_FRAME, MixerInput } from './mixer-input.ts'
import { Speakers } from './speakers.ts'

/** With so many members that talk, room noise is left out: it would add up. Below, everything is passed on as it is. */
const GATED_FROM = 4

/**
 * Mixes the audio of its members by frames of 20 ms at 16 kHz: each hears the sum of all others. The sum is made once, in 32 bits, and
 * only of those who speak; all who are silent share one output, and who speaks has its own taken out again.
 *
 * Sums are clipped. A limiter would be softer on two who shout at once, but has to look ahead, which is delay, and pumps the others up and
 * down; and clipping leaves what fits into 16 bits exactly as it was.
 */
export class MixerCore {
  /** Who speaks, and how loud. */
  readonly speakers: Speakers
  #inputs: MixerInput[] = []
  #byId = new Map<number, MixerInput>()
  #sum = new Int32Array(MIX_FRAME)
  /** Where a sum is made for one input alone. */
  #room = new Int32Array(MIX_FRAME)
  #shared = new Int16Array(MIX_FRAME)
  /** How many voices are in {@link #sum}, the prompt among them. */
  #voices = 0
  #whisperers: MixerInput[] = []
  #prompt: Int16Array | undefined
  #total: Int16Array | undefined

  constructor() {
    this.speakers = new Speakers(this.#inputs)
  }

  /** How many take part. */
  get size(): number {
    return this.#inputs.length
  }

  /** The last mix as it is for who said nothing: all voices and the prompt, without whispers; undefined is silence. Valid until the next. */
  get total(): Int16Array | undefined {
    return this.#total
  }

  /** Takes a member in; one that takes part already is changed. `id` names it to `onlyFor` of others, and to {@link speakers}. */
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

  /** Replaces what a member does; nothing for one that does not take part. */
  change(id: number, options: InputOptions): void {
    this.#byId.get(id)?.change(options)
  }

  /** Nothing for one that does not take part. */
  remove(id: number): void {
    const input = this.#byId.get(id)
    if (!input) return
    this.#byId.delete(id)
    this.#inputs.splice(this.#inputs.indexOf(input), 1)
    this.speakers.forget(input)
    input.output = undefined
  }

  /**
   * Sets 20 ms of sound that all hear in the next mix, also those that do not hear each other; undefined is silence, as is nothing at
   * all. Not copied. Throws a RangeError for anything but {@link MIX_FRAME} samples.
   */
  prompt(frame: Int16Array | undefined): void {
    if (frame && frame.length !== MIX_FRAME)
      throw new RangeError(`a frame of ${MIX_FRAME} samples expected, found ${frame.length}`)
    this.#prompt = frame
  }

  /** Mixes what was put since the last time, and sets every input's output. Allocates nothing. */
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

  /** Adds up all that is for everybody. */
  #add(): void {
    const inputs = this.#inputs
    const gated = this.#talkers() >= GATED_FROM
    this.#whisperers.length = 0
    this.#voices = 0
    this.#sum.fill(0)
    for (let i = 0; i < inputs.length; i++) {
      const input = inputs[i]!
      input.speak(gated)
      if (!input.sound) continue
      if (input.whispers) this.#whisperers.push(input)
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
    for (let i = 0; i < this.#inputs.length; i++) if (this.#inputs[i]!.talks) count++
    return count
  }

  #heardBy(input: MixerInput): Int16Array | undefined {
    if (!input.hears) return this.#prompt
    const own = input.whispers ? undefined : input.sound
    const whispered = this.#isWhisperedTo(input)
    if (!own && !whispered) return this.#total
    if (own && this.#voices === 1 && !whispered) return undefined
    return this.#without(input, own)
  }

  #isWhisperedTo(input: MixerInput): boolean {
    for (let i = 0; i < this.#whisperers.length; i++) if (this.#whisperers[i]!.whispersTo(input)) return true
    return false
  }

  /** The sum without what the input said itself, and with what is whispered to it. */
  #without(input: MixerInput, own: Int16Array | undefined): Int16Array {
    const sum = this.#sum
    const out = input.own
    if (own && this.#whisperers.length === 0) {
      for (let i = 0; i < MIX_FRAME; i++) out[i] = clipped(sum[i]! - own[i]!)
      return out
    }
    const room = this.#room
    room.set(sum)
    if (own) for (let i = 0; i < MIX_FRAME; i++) room[i] = room[i]! - own[i]!
    for (let k = 0; k < this.#whisperers.length; k++) {
      const whisperer = this.#whisperers[k]!
      if (whisperer.whispersTo(input)) addTo(room, whisperer.sound!)
    }
    clip(room, out)
    return out
  }
}

function addTo(sum: Int32Array, samples: Int16Array): void {
  for (let i = 0; i < MIX_FRAME; i++) sum[i] = sum[i]! + samples[i]!
}

function clip(sum: Int32Array, out: Int16Array): void {
  for (let i = 0; i < MIX_FRAME; i++) out[i] = clipped(sum[i]!)
}

function clipped(sample: number): number {
  return sample > 32_767 ? 32_767 : Math.max(sample, -32_768)
}
