import { beforeAll, describe, expect, it } from 'vitest'
import type { MachineRequest } from '../types.ts'
import {
  foundIn,
  joined,
  listenTo,
  louder,
  mixed,
  noise,
  overG711,
  prepare,
  quiet,
  speech,
  talk,
  tone,
} from './testing/detection-sounds.ts'

const machine: MachineRequest = {
  initialTimeoutMs: 4500,
  endSilenceMs: 1000,
  readyTimeoutMs: 1000,
  voiceThresholdMs: 1250,
  wordsThreshold: 6,
  waitForEnd: false,
}
const asked = (more: Partial<MachineRequest> = {}) => ({ machine: { ...machine, ...more } })
const toTheEnd = asked({ waitForEnd: true })
/** Words of one syllable each, with pauses in between. */
const syllables = (count: number, ms = 160, pauseMs = 240): Int16Array =>
  joined(Array.from({ length: count }, () => joined([talk(ms), quiet(pauseMs)])))

const voices = ['slt', 'rms', 'awb', 'kal', 'kal16'] as const
const text =
  'Hello, you have reached the office of John Smith. I am not here right now. Please leave your name and your number after the tone.'
let greetings: readonly Int16Array[]
let hellos: readonly Int16Array[]
let music: Int16Array

beforeAll(async () => {
  greetings = await prepare(...voices.map((voice) => speech(text, voice)))
  const words = ['Hello?', 'Hi.', 'Good morning.', 'Yeah, hello?']
  hellos = await prepare(...voices.flatMap((voice) => words.map((word) => speech(word, voice))))
  const [made = quiet(0)] = await prepare({ kind: 'hold-music' })
  music = made
})

/** Variants of a line: silence, room noise, street noise and low volume; each with both laws. */
const lines = (sound: Int16Array): readonly Int16Array[] =>
  [
    sound,
    mixed(sound, noise(1000, -50)),
    mixed(louder(sound, 3), noise(1000, -36)),
    louder(sound, -14),
  ].flatMap((line) => [overG711('PCMU', line), overG711('PCMA', line)])

describe('the speaker', () => {
  it('is a machine if the text is long, for every voice and line', () => {
    for (const greeting of greetings)
      for (const line of lines(joined([quiet(400), greeting, quiet(2000)])))
        expect(foundIn(line, asked())).toEqual(['machine', 'over'])
  })

  it('is a person if the text is short', () => {
    for (const hello of hellos)
      for (const line of lines(joined([quiet(400), hello, quiet(3000)])))
        expect(foundIn(line, asked())).toEqual(['human', 'over'])
  })

  it('is a machine after uninterrupted speech of the threshold', () => {
    const [found = ''] = listenTo(joined([quiet(200), talk(3000)]), asked())
    expect(found).toMatch(/^machine@1[45]\d0$/)
    const sooner = listenTo(joined([quiet(200), talk(3000)]), asked({ voiceThresholdMs: 600 }))
    expect(sooner[0]).toMatch(/^machine@8\d0$/)
    expect(foundIn(joined([talk(900), quiet(2000)]), asked())).toEqual(['human', 'over'])
  })

  it('has paused after 160 ms of silence, but not between two sounds', () => {
    const halves = (pauseMs: number) => joined([talk(800), quiet(pauseMs), talk(800), quiet(2000)])
    expect(foundIn(halves(100), asked())).toEqual(['machine', 'over'])
    expect(foundIn(halves(260), asked())).toEqual(['human', 'over'])
  })

  it('is a machine after many words', () => {
    expect(listenTo(joined([syllables(8), quiet(2000)]), asked())[0]).toMatch(/^machine@2[12]\d0$/)
    expect(foundIn(joined([syllables(5), quiet(2000)]), asked())).toEqual(['human', 'over'])
    expect(foundIn(joined([syllables(3), quiet(2000)]), asked({ wordsThreshold: 3 }))).toEqual([
      'machine',
      'over',
    ])
  })

  it('is a person after the end silence', () => {
    const short = joined([talk(400), quiet(3000)])
    expect(listenTo(short, asked())[0]).toMatch(/^human@1[34]\d0$/)
    expect(listenTo(short, asked({ endSilenceMs: 2000 }))[0]).toMatch(/^human@2[34]\d0$/)
  })
})

describe('silence from the start', () => {
  it('is unknown after the initial time-out', () => {
    expect(listenTo(quiet(8000), asked())).toEqual(['unknown@4500', 'over@4500'])
    expect(listenTo(quiet(8000), asked({ initialTimeoutMs: 2000 }))).toEqual(['unknown@2000', 'over@2000'])
  })

  it('is unknown also with clicks and with noise of any level', () => {
    const clicks = joined(Array.from({ length: 10 }, () => joined([quiet(500), noise(40, -10)])))
    expect(foundIn(clicks, asked())).toEqual(['unknown', 'over'])
    for (const dbm0 of [-60, -45, -35, -25, -10])
      for (const line of [noise(6000, dbm0), joined([quiet(1000), noise(6000, dbm0)])])
        expect(foundIn(overG711('PCMA', line), asked())).toEqual(['unknown', 'over'])
  })

  it('extends the time-out while tones are received', () => {
    const ring = joined([tone(425, 1000), quiet(4000)])
    expect(foundIn(joined([ring, ring, ring]), asked())).toEqual([])
    expect(listenTo(joined([ring, quiet(2000)]), asked())[0]).toMatch(/^unknown@5[45]\d0$/)
    expect(foundIn(joined([ring, talk(500), quiet(2000)]), asked())).toEqual(['human', 'over'])
  })
})

describe('the end of a greeting', () => {
  it('is a beep of any pitch, length and level', () => {
    for (const [hz, ms, dbm0] of [
      [400, 200, -15],
      [440, 500, -10],
      [1000, 80, -12],
      [1000, 400, -30],
      [1400, 1500, -20],
      [2100, 2000, -15],
    ] as const) {
      const line = joined([talk(2000), quiet(300), tone(hz, ms, dbm0), quiet(3000)])
      for (const law of ['PCMU', 'PCMA'] as const) {
        const found = listenTo(overG711(law, line), toTheEnd)
        expect(found.map((each) => each.replace(/@.*/, ''))).toEqual(['machine', 'beep', 'over'])
        // Detected 60 ms after its end, plus the rest of a frame.
        const at = Number(found[1]?.replace('beep@', ''))
        expect(at - (2300 + ms)).toBeGreaterThanOrEqual(40)
        expect(at - (2300 + ms)).toBeLessThanOrEqual(80)
      }
    }
  })

  it('is detected in noise, and after a real voice, at once or later', () => {
    for (const greeting of greetings)
      for (const pauseMs of [20, 700])
        for (const line of lines(joined([greeting, quiet(pauseMs), tone(1000, 350, -12), quiet(4000)])))
          expect(foundIn(line, toTheEnd)).toEqual(['machine', 'beep', 'over'])
  })

  it('is a silence without a beep, reported once, followed by a second wait', () => {
    const [found, ready, over, ...more] = listenTo(joined([talk(2000), quiet(6000)]), toTheEnd)
    expect([found, ready, over].map((each) => each?.replace(/\d{2}$/, ''))).toEqual([
      expect.stringMatching(/^machine@1[23]$/),
      expect.stringMatching(/^silence@(29|30)$/),
      expect.stringMatching(/^over@(39|40)$/),
    ])
    expect(more).toEqual([])
    const slow = asked({ waitForEnd: true, readyTimeoutMs: 2500 })
    expect(listenTo(joined([talk(2000), quiet(6000)]), slow)[1]).toMatch(/^silence@4[45]\d0$/)
  })

  it('is revoked when the greeting continues, and may still be a beep after a silence', () => {
    const goesOn = joined([talk(2000), quiet(1400), talk(1500), quiet(1300), tone(800, 300), quiet(1000)])
    expect(foundIn(goesOn, toTheEnd)).toEqual(['machine', 'silence', 'notReady', 'silence', 'beep', 'over'])
  })

  it('identifies a machine that has spoken too little', () => {
    const short = joined([talk(400), quiet(300), tone(1000, 400), quiet(1000)])
    expect(foundIn(short, toTheEnd)).toEqual(['machine', 'beep', 'over'])
    expect(foundIn(short, asked())).toEqual(['machine', 'over'])
  })

  it('excludes two-tone, too short, too long, too low, too high and ringing tones', () => {
    for (const sound of [
      tone([440, 480], 1000),
      tone([480, 620], 500),
      tone([697, 1336], 300),
      tone(1000, 40),
      tone(1000, 2500),
      tone(340, 300),
      tone(2200, 300),
      tone(425, 1000),
      tone(1000, 400, -48),
      noise(300, -15),
    ])
      expect(foundIn(joined([talk(2000), quiet(300), sound, quiet(500)]), toTheEnd)).not.toContain('beep')
  })

  it('is not detected before any speech', () => {
    expect(foundIn(joined([tone(1000, 300), quiet(1000)]), toTheEnd)).toEqual([])
  })

  it('is detected neither in a voice nor in music', () => {
    for (const law of ['PCMU', 'PCMA'] as const) {
      for (const greeting of greetings)
        expect(foundIn(overG711(law, joined([greeting, quiet(900), greeting])), toTheEnd)).not.toContain(
          'beep',
        )
      expect(foundIn(overG711(law, joined([talk(2000), music, quiet(100)])), toTheEnd)).not.toContain('beep')
    }
  })
})
