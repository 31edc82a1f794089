import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decode, encode } from '../codecs/g711.ts'
import { InbandDtmfDetector } from './inband-dtmf-detector.ts'
import {
  amplitudeOf,
  dial,
  dtmfKeys,
  joined,
  randomFrom,
  render,
  type ToneBurst,
} from './testing/dtmf-tones.ts'

const rates = [8000, 16_000] as const
type Rate = (typeof rates)[number]

interface Heard {
  readonly digit: string
  readonly durationMs: number
}

/** Returns the detected keys of samples passed in chunks of these lengths, repeated. */
function hear(rate: Rate, samples: Int16Array, chunks: readonly number[] = [rate / 50]): Heard[] {
  const heard: Heard[] = []
  const digits = new InbandDtmfDetector(rate, (digit, durationMs) => heard.push({ digit, durationMs }))
  for (let at = 0, turn = 0; at < samples.length; turn++) {
    const length = chunks[turn % chunks.length]!
    digits.receive(samples.subarray(at, at + length))
    at += length
  }
  for (let i = 0; i < 5; i++) digits.receive(undefined)
  return heard
}

const string = (heard: readonly Heard[]): string => heard.map(({ digit }) => digit).join('')

const usual: ToneBurst = { key: '5', ms: 80, pauseMs: 80, rowDb: -10, twistDb: 0, rowOff: 0, columnOff: 0 }
const lead = { ...usual, key: '', ms: 0 }

/** Key presses that must be detected. */
const press = (rate: Rate, least = 40): fc.Arbitrary<ToneBurst> =>
  fc
    .record({
      key: fc.constantFrom(...dtmfKeys),
      ms: fc.integer({ min: least, max: 160 }),
      pauseMs: fc.integer({ min: 40, max: 120 }),
      weakest: fc.double({ min: -25, max: -12, noNaN: true }),
      twistDb: fc.double({ min: -8, max: 4, noNaN: true }),
      rowOff: fc.double({ min: -0.015, max: 0.015, noNaN: true }),
      columnOff: fc.double({ min: -0.015, max: 0.015, noNaN: true }),
    })
    .map(({ weakest, ...rest }) => ({ ...rest, rowDb: weakest - Math.min(0, rest.twistDb), rate }))

describe.each(rates)('in-band digits at %i Hz', (rate) => {
  it('are detected within the tolerances of Q.24, with noise, for any chunk lengths', () => {
    const property = fc.property(
      fc.array(press(rate), { minLength: 1, maxLength: 8 }),
      fc.integer(),
      fc.integer({ min: 15, max: 60 }),
      fc.array(fc.integer({ min: 1, max: 1000 }), { minLength: 1, maxLength: 5 }),
      (presses, seed, snr, chunks) => {
        const heard = hear(rate, dial(rate, presses, snr, seed), chunks)
        expect(string(heard)).toBe(presses.map(({ key }) => key).join(''))
        for (const [i, { durationMs }] of heard.entries())
          expect(Math.abs(durationMs - presses[i]!.ms)).toBeLessThanOrEqual(15)
      },
    )
    fc.assert(property, { numRuns: 80 })
  })

  it('pass G.711', () => {
    const dialled = dial(
      rate,
      [...dtmfKeys].map((key) => ({ ...usual, key })),
      40,
      1,
    )
    for (const law of ['PCMU', 'PCMA'] as const)
      expect(string(hear(rate, decode(law, encode(law, dialled))))).toBe(dtmfKeys)
  })

  it('report the duration of a key press, once', () => {
    const heard = hear(
      rate,
      dial(
        rate,
        [
          { ...usual, ms: 4000 },
          { ...usual, ms: 200 },
        ],
        30,
        3,
      ),
    )
    expect(heard).toHaveLength(2)
    expect(Math.abs(heard[0]!.durationMs - 4000)).toBeLessThanOrEqual(10)
    expect(Math.abs(heard[1]!.durationMs - 200)).toBeLessThanOrEqual(10)
  })

  it('are not split by an interruption of 10 ms, and separate two consecutive keys', () => {
    const tone = dial(rate, [{ ...usual, ms: 120, pauseMs: 0 }], 60, 4)
    tone.fill(0, Math.round(tone.length * 0.4), Math.round(tone.length * 0.4) + rate / 100)
    expect(hear(rate, tone)).toHaveLength(1)
    const two = [
      { ...usual, pauseMs: 0 },
      { ...usual, key: '9' },
    ]
    expect(string(hear(rate, dial(rate, two, 40, 5)))).toBe('59')
  })

  it.each([23, 20, 10])('are rejected if they last %i ms', (ms) => {
    for (const key of dtmfKeys) {
      const presses = [lead, { ...usual, key, ms }, { ...usual, key, ms }]
      expect(hear(rate, dial(rate, presses, 40, ms))).toEqual([])
    }
  })

  it.each([
    ['the row 3.5 % too high', { rowOff: 0.035 }],
    ['the row 3.5 % too low', { rowOff: -0.035 }],
    ['the column 3.5 % too high', { columnOff: 0.035 }],
    ['the column 3.5 % too low', { columnOff: -0.035 }],
    ['the column 14 dB too weak', { twistDb: -14 }],
    ['the column 9 dB too strong', { twistDb: 9 }],
    ['both at -33 dBm0', { rowDb: -33 }],
  ])('are rejected with %s', (_, wrong) => {
    const presses = [...dtmfKeys].map((key) => ({ ...usual, key, ...wrong }))
    for (const snr of [15, 60]) expect(hear(rate, dial(rate, presses, snr, 6))).toEqual([])
  })

  it('are discarded if they were also received as events', () => {
    const heard: string[] = []
    const digits = new InbandDtmfDetector(rate, (digit) => heard.push(digit))
    const tone = dial(rate, [{ ...usual, ms: 100 }], 40, 7)
    digits.receive(tone.subarray(0, rate / 20))
    digits.clear()
    digits.receive(tone.subarray(rate / 20, Math.round(rate * 0.06)))
    for (let i = 0; i < 5; i++) digits.receive(undefined)
    expect(heard).toEqual([])
    digits.receive(tone)
    expect(heard).toEqual(['5'])
  })
})

/**
 * Returns the sum of a tone and its harmonics, by their gains, at a phase (in turns) of the tone. Each sine
 * is calculated from the two before it.
 */
function harmonics(phase: number, gains: readonly number[]): number {
  const twice = 2 * Math.cos(2 * Math.PI * phase)
  let sum = 0
  let before = 0
  let sine = Math.sin(2 * Math.PI * phase)
  for (let k = 0; k < gains.length; k++) {
    sum += gains[k]! * sine
    const next = twice * sine - before
    before = sine
    sine = next
  }
  return sum
}

/** Voice pulses through three gliding formants, with pauses between syllables. */
function voice(rate: Rate, seconds: number, seed: number): Int16Array {
  const random = randomFrom(seed)
  const between = (low: number, high: number) => low + (high - low) * random()
  let phase = 0
  const syllable = () => {
    const ms = between(90, 400)
    const from = between(80, 320)
    const to = between(80, 320)
    const formants = [between(250, 900), between(800, 2400), between(2000, 3200)]
    const loud = between(300, 6000)
    const gainsOf = (pitch: number): number[] => {
      const all: number[] = []
      for (let k = 1; k * pitch < rate / 2 && k < 40; k++)
        all.push(formants.reduce((gain, f, i) => gain + 0.6 ** i / (1 + ((k * pitch - f) / 90) ** 2), 0.01))
      return all
    }
    let sample = 0
    let gains = [] as number[]
    return render(rate, ms, (t) => {
      const part = (t * 1000) / ms
      const pitch = from + (to - from) * part
      phase += pitch / rate
      // Formants move slowly: once in 2 ms suffices.
      if (sample++ % (rate / 500) === 0) gains = gainsOf(pitch)
      return loud * harmonics(phase, gains) * Math.sin(Math.PI * part)
    })
  }
  const parts: Int16Array[] = []
  for (let length = 0; length < seconds * rate; ) {
    const part = random() < 0.2 ? new Int16Array(rate / 8) : syllable()
    parts.push(part)
    length += part.length
  }
  return joined(parts)
}

/** Chords and tunes of tempered notes with overtones, 60 to 400 ms each. */
function music(rate: Rate, seconds: number, seed: number): Int16Array {
  const random = randomFrom(seed)
  const parts: Int16Array[] = []
  for (let length = 0; length < seconds * rate; ) {
    const notes = Array.from({ length: 1 + Math.floor(random() * 4) }, () => ({
      frequency: 110 * 2 ** (Math.floor(random() * 40) / 12),
      gains: [3000, ...Array.from({ length: 5 }, () => 3000 * random() * 0.6)],
    }))
    const part = render(
      rate,
      60 + random() * 340,
      (t) =>
        notes.reduce((sum, { frequency, gains }) => sum + harmonics(frequency * t, gains), 0) *
        Math.exp(-3 * t),
    )
    parts.push(part)
    length += part.length
  }
  return joined(parts)
}

describe.each(rates)('digit detection at %i Hz', (rate) => {
  it('ignores voices', () => {
    for (const seed of [1, 2]) expect(hear(rate, voice(rate, 40, seed))).toEqual([])
  })

  it('ignores music', () => {
    for (const seed of [1, 2]) expect(hear(rate, music(rate, 40, seed))).toEqual([])
  })

  it('ignores noise', () => {
    const random = randomFrom(9)
    expect(
      hear(
        rate,
        render(rate, 60_000, () => 20_000 * (random() - 0.5)),
      ),
    ).toEqual([])
  })

  it.each([
    ['a dial tone', [350, 440]],
    ['ringing', [440, 480]],
    ['busy', [480, 620]],
    ['a fax calling', [1100]],
    ['a fax answering', [2100]],
    ['a row alone', [770]],
    ['a column alone', [1336]],
    ['two rows', [697, 941]],
    ['a key with a third tone', [770, 1336, 1900]],
  ])('ignores %s', (_, frequencies) => {
    const tone = render(rate, 2000, (t) =>
      frequencies.reduce((sum, f) => sum + amplitudeOf(-13) * Math.sin(2 * Math.PI * f * t), 0),
    )
    expect(hear(rate, tone)).toEqual([])
  })
})
