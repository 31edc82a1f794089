import { describe, expect, it } from 'vitest'
import { sine, toneSnr } from '../codecs/tone.ts'
import { MixerCore } from './mixer.ts'
import { defaultMixRate, type InputOptions } from './mixer-input.ts'

/** Continuous tone in frames of 20 ms. */
class Voice {
  readonly rate: 8000 | 16_000 | 48_000
  #samples: Int16Array
  #at = 0

  constructor(rate: 8000 | 16_000 | 48_000, amplitude: number, frequency = 400) {
    this.rate = rate
    this.#samples = sine(frequency, 20_000, rate, amplitude)
  }

  next(): Int16Array {
    this.#at += this.rate / 50
    return this.#samples.subarray(this.#at - this.rate / 50, this.#at)
  }
}

const peak = (samples: Int16Array | undefined): number => Math.max(0, ...(samples ?? []))

describe('the volume of an input', () => {
  it.each([-50, -20, -6, 0, 6, 20])('of %d dB is heard by the others', (volumeDb) => {
    const mixer = new MixerCore()
    const speaker = mixer.add(1, { volumeDb })
    const listener = mixer.add(2)
    const amplitude = volumeDb > 0 ? 3000 : 30_000
    const voice = new Voice(defaultMixRate, amplitude)
    for (let i = 0; i < 5; i++) {
      speaker.put(voice.next())
      mixer.mix()
    }
    expect(20 * Math.log10(peak(listener.output) / amplitude)).toBeCloseTo(volumeDb, 0)
  })
})

describe('an input that some others do not hear', () => {
  const setUp = () => {
    const mixer = new MixerCore()
    const owner = mixer.add(1)
    const listener = mixer.add(2)
    const screen = mixer.add(3, { canHear: false, inaudibleTo: [1], isVoice: false })
    const loud = new Voice(defaultMixRate, 9000)
    const low = new Voice(defaultMixRate, 3000)
    return { mixer, owner, listener, screen, loud, low }
  }

  it('is heard by the rest alone, and belongs to the total', () => {
    const { mixer, owner, listener, screen, loud } = setUp()
    const sound = loud.next()
    screen.put(sound)
    mixer.mix()
    expect([owner.output, screen.output]).toEqual([undefined, undefined])
    expect(listener.output).toEqual(sound)
    expect(mixer.total).toEqual(sound)
    expect([owner.hearsTotal, listener.hearsTotal]).toEqual([false, true])
  })

  it('is subtracted for them while others speak', () => {
    const { mixer, owner, listener, screen, loud, low } = setUp()
    const music = loud.next()
    const voice = low.next()
    screen.put(music)
    listener.put(voice)
    mixer.mix()
    expect(owner.output).toEqual(voice)
    expect(listener.output).toEqual(music)
    const own = low.next()
    const further = loud.next()
    owner.put(own)
    screen.put(further)
    mixer.mix()
    expect(owner.output).toBeUndefined()
    expect(listener.output).toEqual(own.map((sample, at) => sample + further[at]!))
  })
})

describe('an input that is no voice', () => {
  it('neither talks nor becomes the active speaker, and passes where noise does not', () => {
    const reports: unknown[] = []
    const mixer = new MixerCore({ onTalking: (id) => reports.push(id) })
    const music = mixer.add(1, { isVoice: false })
    const noise = mixer.add(2)
    const listeners = [3, 4, 5].map((id) => mixer.add(id))
    // Steady sound counts as background noise after a while.
    const sound = new Voice(defaultMixRate, 200)
    const hum = new Voice(defaultMixRate, 200, 300)
    for (let at = 0; at < 19_000; at += 320) {
      music.put(sound.next())
      mixer.mix()
    }
    expect([reports, mixer.speakers.active]).toEqual([[], undefined])
    expect(peak(listeners[0]!.output)).toBeGreaterThan(150)
    for (let at = 0; at < 19_000; at += 320) {
      noise.put(hum.next())
      mixer.mix()
    }
    expect(listeners[0]!.output).toBeUndefined()
  })
})

describe('the ports that talk', () => {
  const setUp = (options: InputOptions = {}) => {
    const reports: (readonly [id: number, isTalking: boolean])[] = []
    const mixer = new MixerCore({
      onTalking: (id, talk) =>
        (talk === 'talking' || talk === 'silent') && reports.push([id, talk === 'talking']),
    })
    const input = mixer.add(1, options)
    mixer.add(2)
    const voice = new Voice(defaultMixRate, 8000)
    const pass = (ms: number, talks: boolean) => {
      for (let at = 0; at < ms; at += 20) {
        if (talks) input.put(voice.next())
        mixer.mix()
      }
    }
    return { mixer, reports, pass }
  }

  it('are reported when they begin and end', () => {
    const { reports, pass } = setUp()
    pass(180, true)
    expect(reports).toEqual([])
    pass(20, true)
    expect(reports).toEqual([[1, true]])
    pass(680, false)
    expect(reports).toHaveLength(1)
    pass(200, false)
    expect(reports).toEqual([
      [1, true],
      [1, false],
    ])
  })

  it('do not include muted and whispering inputs', () => {
    for (const options of [{ canSpeak: false }, { audibleTo: [2] }]) {
      const { reports, pass } = setUp(options)
      pass(1000, true)
      expect(reports).toEqual([])
    }
  })

  it('end with muting, whispering and leaving', () => {
    const ends: readonly ((mixer: MixerCore) => void)[] = [
      (mixer) => mixer.change(1, { canSpeak: false }),
      (mixer) => mixer.change(1, { audibleTo: [2] }),
      (mixer) => mixer.remove(1),
    ]
    for (const end of ends) {
      const { mixer, reports, pass } = setUp()
      pass(400, true)
      end(mixer)
      pass(20, true)
      expect(reports).toEqual([
        [1, true],
        [1, false],
      ])
    }
  })
})

describe('a mixer of 48 kHz', () => {
  it('converts the audio of inputs with other rates', () => {
    const mixer = new MixerCore({ rate: 48_000 })
    const listener = mixer.add(1)
    const phone = mixer.add(2)
    for (const rate of [8000, 16_000, 48_000] as const) {
      const voice = new Voice(rate, 8000, 1000)
      const heard: number[] = []
      for (let i = 0; i < 20; i++) {
        phone.put(voice.next(), rate)
        mixer.mix()
        heard.push(...(listener.output ?? []))
      }
      expect(listener.output).toHaveLength(960)
      expect(toneSnr(heard.slice(4800), 1000, 48_000)).toBeGreaterThan(50)
    }
    expect(() => phone.put(new Int16Array(320), 8000)).toThrow('a frame of 160 samples expected, found 320')
  })

  it('passes the last milliseconds of converted audio, and then nothing', () => {
    const mixer = new MixerCore({ rate: 48_000 })
    const listener = mixer.add(1)
    const phone = mixer.add(2)
    const voice = new Voice(8000, 8000)
    for (let i = 0; i < 5; i++) {
      phone.put(voice.next(), 8000)
      mixer.mix()
    }
    mixer.mix()
    expect(peak(listener.output)).toBeGreaterThan(0)
    expect(listener.output!.subarray(480).every((sample) => sample === 0)).toBe(true)
    mixer.mix()
    expect(listener.output).toBeUndefined()
  })

  it('marks the inputs that hear the same', () => {
    const mixer = new MixerCore({ rate: 48_000 })
    const speaker = mixer.add(1)
    const listener = mixer.add(2)
    const deaf = mixer.add(3, { canHear: false })
    mixer.mix()
    expect([speaker.hearsTotal, listener.hearsTotal, deaf.hearsTotal]).toEqual([true, true, false])
    speaker.put(new Voice(48_000, 8000).next())
    mixer.mix()
    expect([speaker.hearsTotal, listener.hearsTotal, deaf.hearsTotal]).toEqual([false, true, false])
  })
})
