import { describe, expect, it } from 'vitest'
import { sine } from '../codecs/tone.ts'
import { MixerCore } from './mixer.ts'
import { defaultMixRate } from './mixer-input.ts'

/** Mixer with three inputs; the level of each is the peak of a tone. */
function mixer() {
  const core = new MixerCore()
  const inputs = [1, 2, 3].map((id) => core.add(id))
  const speak = (ms: number, ...amplitudes: readonly number[]): void => {
    const frames = amplitudes.map((amplitude) => sine(300, 20, defaultMixRate, amplitude))
    for (let at = 0; at < ms; at += 20) {
      for (const [i, frame] of frames.entries()) inputs[i]!.put(frame)
      core.mix()
    }
  }
  return { core, speakers: core.speakers, speak }
}

describe('the speaker detector', () => {
  it('finds the speaker, and forgets after 2 s of silence', () => {
    const { speakers, speak } = mixer()
    expect(speakers.active).toBeUndefined()
    speak(300, 0, 8000)
    expect(speakers.active).toBe(2)
    speak(1800)
    expect(speakers.active).toBe(2)
    speak(800)
    expect(speakers.active).toBeUndefined()
  })

  it('keeps the speaker while another is equally loud or coughs', () => {
    const { speakers, speak } = mixer()
    speak(1000, 4000)
    speak(3000, 4000, 6000)
    expect(speakers.active).toBe(1)
    speak(400, 4000, 30_000)
    expect(speakers.active).toBe(1)
    speak(1000, 4000)
    expect(speakers.active).toBe(1)
  })

  it('changes to an input that is 6 dB louder for half a second, or speaks while the speaker is silent', () => {
    const { speakers, speak } = mixer()
    speak(1000, 2000)
    speak(1200, 2000, 8000)
    expect(speakers.active).toBe(2)
    speak(1000, 0, 0, 1500)
    expect(speakers.active).toBe(3)
  })

  it('returns the loudest inputs with their levels', () => {
    const { speakers, speak } = mixer()
    speak(2000, 1000, 10_000, 3000)
    const loudest = speakers.loudest(2)
    expect(loudest.map(({ id }) => id)).toEqual([2, 3])
    expect(loudest[0]!.levelDb).toBeCloseTo(20 * Math.log10(10_000 / 32_768) - 3.01, 1)
    expect(speakers.loudest(10)).toHaveLength(3)
    speak(2000)
    expect(speakers.loudest(10)).toEqual([])
  })

  it('ignores whispering, muted and removed inputs', () => {
    const { core, speakers, speak } = mixer()
    core.change(1, { audibleTo: [2] })
    core.change(2, { canSpeak: false })
    speak(2000, 8000, 8000, 1000)
    expect(speakers.active).toBe(3)
    expect(speakers.loudest(3).map(({ id }) => id)).toEqual([3])
    core.remove(3)
    expect(speakers.active).toBeUndefined()
  })
})
