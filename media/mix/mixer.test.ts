import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sine } from '../codecs/tone.ts'
import { ComfortNoise } from '../rtp/comfort-noise.ts'
import { MixerCore } from './mixer.ts'
import { defaultMixRate, type InputOptions } from './mixer-input.ts'

const mixFrameSamples = defaultMixRate / 50
const clip = (v: number): number => Math.max(-32_768, Math.min(32_767, v))
const tone = (frequency: number, amplitude = 8000): Int16Array =>
  sine(frequency, 20, defaultMixRate, amplitude)
const constant = (value: number): Int16Array => new Int16Array(mixFrameSamples).fill(value)

function roomNoise(level: number, seed: number): () => Int16Array {
  const maker = new ComfortNoise(seed)
  return () => {
    const frame = new Int16Array(mixFrameSamples)
    maker.fill(level, frame)
    return frame
  }
}

const ids = [1, 2, 3, 4, 5, 6, 7]

type Step =
  | { readonly kind: 'add' | 'change'; readonly id: number; readonly options: InputOptions }
  | { readonly kind: 'remove'; readonly id: number }
  | {
      readonly kind: 'mix'
      readonly said: readonly (Int16Array | undefined)[]
      readonly prompt: Int16Array | undefined
    }

/** Loud enough to pass the gate; or silent. */
const frames: fc.Arbitrary<Int16Array | undefined> = fc.oneof(
  fc.constant(undefined),
  fc.constant(new Int16Array(mixFrameSamples)),
  fc
    .array(fc.constantFrom(-32_768, 32_767, 20_000, -4000, 12_345, -9999), { minLength: 1, maxLength: 20 })
    .map((some) => Int16Array.from({ length: mixFrameSamples }, (_, i) => some[i % some.length]!)),
)

const options: fc.Arbitrary<InputOptions> = fc.oneof(
  { weight: 2, arbitrary: fc.constant({}) },
  fc.record(
    {
      talks: fc.boolean(),
      hears: fc.boolean(),
      onlyFor: fc.subarray(ids),
      volumeDb: fc.constantFrom(0, -6, 6, 20, -60, -1000, 1000, Number.NEGATIVE_INFINITY),
    },
    { requiredKeys: [] },
  ),
)

const steps: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('add' as const), id: fc.constantFrom(...ids), options }),
  },
  fc.record({ kind: fc.constant('change' as const), id: fc.constantFrom(...ids), options }),
  fc.record({ kind: fc.constant('remove' as const), id: fc.constantFrom(...ids) }),
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('mix' as const),
      said: fc.array(frames, { minLength: ids.length, maxLength: ids.length }),
      prompt: frames,
    }),
  },
)

const gainOf = ({ canSpeak: talks = true, volumeDb = 0 }: InputOptions): number =>
  talks
    ? 10 ** (Math.max(-60, Math.min(20, volumeDb)) / 20) * (volumeDb === Number.NEGATIVE_INFINITY ? 0 : 1)
    : 0

/** Simple model of a mixer. */
class Model {
  readonly members = new Map<number, InputOptions>()
  /** Audio of each input in the last mix. */
  readonly gains = new Map<number, number>()

  set(id: number, options: InputOptions): void {
    if (!this.members.has(id)) this.gains.set(id, gainOf(options))
    this.members.set(id, options)
  }

  /** Ends a mix. */
  settle(): void {
    for (const [id, options] of this.members) this.gains.set(id, gainOf(options))
  }

  heardBy(id: number, said: ReadonlyMap<number, Int16Array>, prompt: Int16Array | undefined): number[] {
    const { canHear: hears = true } = this.members.get(id)!
    const heard = hears ? [...said].filter(([from]) => from !== id && this.#reaches(from, id)) : []
    return Array.from({ length: mixFrameSamples }, (_, i) => {
      const voices = heard.reduce((sum, [from, frame]) => sum + this.#louder(from, frame[i]!, i), 0)
      return clip(voices + (prompt?.[i] ?? 0))
    })
  }

  #reaches(from: number, to: number): boolean {
    const { audibleTo: onlyFor } = this.members.get(from)!
    return !onlyFor || onlyFor.includes(to)
  }

  #louder(id: number, sample: number, at: number): number {
    const before = this.gains.get(id)!
    const gain = gainOf(this.members.get(id)!)
    return clip(Math.round(sample * (before + ((gain - before) * (at + 1)) / mixFrameSamples)))
  }
}

function mixAndCompare(mixer: MixerCore, model: Model, step: Step & { readonly kind: 'mix' }): void {
  const said = new Map<number, Int16Array>()
  for (const [index, id] of ids.entries()) {
    const frame = step.said[index]
    if (!model.members.has(id)) continue
    // Adding again returns the same input, with the same options.
    mixer.add(id, model.members.get(id)!).put(frame)
    if (frame) said.set(id, frame)
  }
  mixer.prompt(step.prompt)
  mixer.mix()
  for (const [id, options] of model.members) {
    const output = mixer.add(id, options).output ?? new Int16Array(mixFrameSamples)
    expect([...output]).toEqual(model.heardBy(id, said, step.prompt).map((v) => v + 0))
  }
  model.settle()
}

describe('MixerCore', () => {
  it('lets each input hear the clipped sum of the others, in every situation', () => {
    const beginning = fc
      .subarray(ids)
      .map((members) => members.map((id): Step => ({ kind: 'add', id, options: {} })))
    const property = fc.property(beginning, fc.array(steps, { maxLength: 40 }), (first, script) => {
      const mixer = new MixerCore()
      const model = new Model()
      for (const step of [...first, ...script]) {
        if (step.kind === 'mix') mixAndCompare(mixer, model, step)
        else if (step.kind === 'remove') {
          mixer.remove(step.id)
          model.members.delete(step.id)
        } else if (step.kind === 'add' || model.members.has(step.id)) {
          mixer[step.kind](step.id, step.options)
          model.set(step.id, step.options)
        } else mixer.change(step.id, step.options)
        expect(mixer.size).toBe(model.members.size)
      }
    })
    fc.assert(property, { numRuns: 150 })
  })

  it('passes two inputs exactly, however quiet they are', () => {
    const mixer = new MixerCore()
    const a = mixer.add(1)
    const b = mixer.add(2)
    const noiseA = roomNoise(-70, 1)
    const noiseB = roomNoise(-80, 2)
    for (let i = 0; i < 200; i++) {
      const fromA = noiseA()
      const fromB = noiseB()
      a.put(fromA)
      b.put(fromB)
      mixer.mix()
      expect(a.output).toEqual(fromB)
      expect(b.output).toEqual(fromA)
    }
  })

  it('shares one output among silent inputs, undefined for silence', () => {
    const mixer = new MixerCore()
    const inputs = ids.map((id) => mixer.add(id))
    mixer.mix()
    expect(inputs.every((input) => input.output === undefined)).toBe(true)
    expect(mixer.total).toBeUndefined()
    inputs[0]!.put(tone(500))
    mixer.mix()
    expect(inputs[0]!.output).toBeUndefined()
    expect(inputs[1]!.output).toBe(inputs[6]!.output)
    expect(inputs[1]!.output).toEqual(tone(500))
    expect(mixer.total).toEqual(tone(500))
    mixer.mix()
    expect(inputs[1]!.output).toBeUndefined()
  })

  it('suppresses room noise from four inputs on, without cutting ends of words', () => {
    const mixer = new MixerCore()
    const inputs = [1, 2, 3, 4].map((id) => mixer.add(id))
    const noises = inputs.map((_, i) => roomNoise(-62, i + 1))
    const hear = () => {
      for (const [i, input] of inputs.entries()) input.put(noises[i]!())
      mixer.mix()
      return inputs[0]!.output
    }
    for (let i = 0; i < 50; i++) expect(hear()).toBeUndefined()
    inputs[1]!.put(tone(300))
    mixer.mix()
    // The noise after the word passes for 300 ms.
    const after = Array.from({ length: 30 }, () => hear() !== undefined)
    expect(after.lastIndexOf(true)).toBe(13)
    expect(after.indexOf(false)).toBe(14)
  })

  it.each([
    ['a change of volume', { volumeDb: -60 }],
    ['the end of talking', { canSpeak: false }],
    ['muting', { volumeDb: Number.NEGATIVE_INFINITY }],
  ])('does not click with %s', (_, options) => {
    const mixer = new MixerCore()
    const a = mixer.add(1)
    const b = mixer.add(2)
    const heard = [{}, options, options, {}].flatMap((each) => {
      mixer.change(1, each)
      a.put(constant(20_000))
      mixer.mix()
      return [...(b.output ?? constant(0))]
    })
    const steps = heard.slice(1).map((sample, i) => Math.abs(sample - heard[i]!))
    expect(Math.max(...steps)).toBeLessThan(70)
    expect([heard[0], Math.round(heard[2 * mixFrameSamples]! / 100), heard.at(-1)]).toEqual([
      20_000, 0, 20_000,
    ])
  })

  it('keeps whispers out of the total and from the others', () => {
    const mixer = new MixerCore()
    const agent = mixer.add(1)
    const caller = mixer.add(2)
    const coach = mixer.add(3, { audibleTo: [1] })
    coach.put(constant(1000))
    caller.put(constant(200))
    mixer.mix()
    expect(agent.output).toEqual(constant(1200))
    expect(caller.output).toBeUndefined()
    expect(coach.output).toEqual(constant(200))
    expect(mixer.total).toEqual(constant(200))
    mixer.change(3, {})
    coach.put(constant(1000))
    mixer.mix()
    expect(caller.output).toEqual(constant(1000))
  })

  it('rejects frames of another length', () => {
    const mixer = new MixerCore()
    expect(() => mixer.add(1).put(new Int16Array(160))).toThrow('a frame of 320 samples expected, found 160')
    expect(() => mixer.prompt(new Int16Array(321))).toThrow(RangeError)
  })

  it('forgets inputs that leave', () => {
    const mixer = new MixerCore()
    const a = mixer.add(1)
    const b = mixer.add(2)
    a.put(tone(500))
    mixer.remove(1)
    mixer.remove(1)
    mixer.mix()
    expect(b.output).toBeUndefined()
    expect(mixer.size).toBe(1)
  })
})
