import { beforeAll, describe, expect, it } from 'vitest'
import { ringtoneCountries } from '../sound/ringtones.ts'
import {
  foundIn,
  joined,
  listenTo,
  mixed,
  noise,
  overG711,
  prepare,
  quiet,
  reversing,
  speech,
  tone,
} from './testing/detection-sounds.ts'

const ced = { fax: 'CED' } as const
const cng = { fax: 'CNG' } as const
/** Tone of a calling fax, repeated. */
const calling = (times: number, hz = 1100, onMs = 500, offMs = 3000, dbm0 = -15): Int16Array =>
  joined(Array.from({ length: times }, () => joined([tone(hz, onMs, dbm0), quiet(offMs)])))

describe('CED', () => {
  it.each(['PCMU', 'PCMA'] as const)('is found a second after its start, over %s', (law) => {
    for (const dbm0 of [-5, -20, -38]) {
      const line = overG711(law, joined([quiet(1800), tone(2100, 3300, dbm0)]))
      const [found, over] = listenTo(line, ced)
      expect(found).toMatch(/^CED@28/)
      expect(over).toMatch(/^over@28/)
    }
  })

  it.each([
    ['at the ends of the tolerance of V.25', () => [tone(2085, 2600), tone(2115, 2600)]],
    ['with phase reversals', () => [reversing(2600), reversing(2600, -30)]],
    ['as V.8 lets it swell', () => [reversing(2600, -15, 0.2)]],
    ['with noise 10 dB below', () => [mixed(tone(2100, 2600, -20), noise(2600, -30))]],
    ['with noise below a turning phase', () => [mixed(reversing(2600, -20), noise(2600, -32))]],
  ])('is found %s', (_, sounds) => {
    for (const sound of sounds()) expect(foundIn(overG711('PCMU', sound), ced)).toEqual(['CED', 'over'])
  })

  it('excludes short beeps, other frequencies and quiet tones', () => {
    for (const sound of [
      joined([tone(2100, 900), quiet(2000)]),
      tone(2060, 4000),
      tone(2140, 4000),
      tone(1100, 4000),
      tone([2100, 1100], 4000),
      tone(2100, 4000, -48),
      noise(4000, -10),
    ])
      expect(foundIn(sound, ced)).toEqual([])
  })
})

describe('CNG', () => {
  it.each([
    ['as it should be', calling(2)],
    ['at the lower ends of the tolerances of T.30', calling(2, 1062, 425, 2550)],
    ['at their upper ends', calling(2, 1138, 575, 3450)],
    ['when its first tone was missed in part', joined([tone(1100, 200), quiet(3000), calling(2)])],
    ['quiet', calling(2, 1100, 500, 3000, -38)],
    ['with noise', mixed(calling(2), noise(7000, -27))],
  ])('is found %s', (_, sound) => {
    for (const law of ['PCMU', 'PCMA'] as const)
      expect(foundIn(overG711(law, sound), cng)).toEqual(['CNG', 'over'])
  })

  it("excludes single tones like a machine's beep, other rhythms and other frequencies", () => {
    for (const sound of [
      joined([tone(1100, 500), quiet(10_000)]),
      calling(4, 1100, 500, 1000),
      calling(4, 1100, 500, 4500),
      calling(4, 1100, 250),
      calling(4, 1100, 1000),
      calling(4, 1000),
      calling(4, 1200),
      tone(1100, 10_000),
    ])
      expect(foundIn(sound, cng)).toEqual([])
  })
})

describe('sounds other than fax', () => {
  let voices: Int16Array
  let music: Int16Array
  let rings: Int16Array

  beforeAll(async () => {
    const text =
      'You have reached us. Who are you? Two blue moons flew through the cool room. Please leave your number after the beep.'
    voices = joined(await prepare(...['slt', 'rms', 'awb', 'kal'].map((voice) => speech(text, voice))))
    const [made = quiet(0)] = await prepare({ kind: 'hold-music' })
    music = joined([made, made])
    rings = joined(
      await prepare(...ringtoneCountries.map((country) => ({ kind: 'ringtone', country }) as const)),
    )
  })

  it.each([ced, cng])('include voices, music and every ringing tone: %o', (request) => {
    for (const law of ['PCMU', 'PCMA'] as const)
      for (const sound of [voices, music, rings]) expect(foundIn(overG711(law, sound), request)).toEqual([])
  })
})
