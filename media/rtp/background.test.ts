import { beforeEach, describe, expect, it } from 'vitest'
import { sine } from '../codecs/tone.ts'
import { Background } from './background.ts'
import { PromptMixer } from './prompt-mixer.ts'
import { SpeechQueue } from './speech-queue.ts'
import { levelDb } from './voice-activity.ts'

const flat = (value: number, ms: number): Int16Array => new Int16Array(8 * ms).fill(value)

describe('the background of a tap', () => {
  let played: number[]
  let mixer: PromptMixer
  let queue: SpeechQueue
  let background: Background
  let ended: number[]

  beforeEach(() => {
    played = []
    ended = []
    mixer = new PromptMixer((play) => played.push(play))
    queue = new SpeechQueue(8000, (kind, item) => {
      if (kind === 'ended') ended.push(item)
    })
    background = new Background()
    mixer.addQueue(queue, background)
  })

  const begin = (samples = flat(1000, 100), more: { loops?: number; volumeDb?: number } = {}) =>
    background.set({ samples, sampleRate: 8000, volumeDb: 0, ...more })
  /** Last sample of the next frame; undefined without one. */
  const next = (): number | undefined => {
    const value = mixer.compose(8000) ? mixer.frame[159] : undefined
    mixer.finish()
    return value
  }

  it('rises, repeats and falls under silence', () => {
    expect([mixer.isWaiting, next()]).toEqual([false, undefined])
    begin()
    expect(mixer.isWaiting).toBe(true)
    mixer.compose(8000)
    const [first, , , last] = [0, 50, 100, 159].map((i) => mixer.frame[i]!)
    expect([first! < 50, last]).toEqual([true, 1000])
    expect(Array.from({ length: 50 }, next)).toEqual(Array(50).fill(1000))
    background.set(undefined)
    mixer.compose(8000)
    expect([mixer.frame[0]! > 950, mixer.frame[159]]).toEqual([true, 0])
    expect([next(), mixer.isWaiting]).toEqual([undefined, false])
  })

  it('ends after its passes', () => {
    begin(flat(1000, 40), { loops: 2 })
    expect(Array.from({ length: 5 }, next)).toEqual([1000, 1000, 1000, 1000, undefined])
    expect([background.isOn, mixer.isWaiting]).toEqual([false, false])
  })

  it('goes on under speech and its fades, which end their items as before', () => {
    begin()
    next()
    queue.write(flat(4000, 100), 7)
    queue.finish(7)
    expect(Array.from({ length: 6 }, next)).toEqual([5000, 5000, 5000, 5000, 5000, 1000])
    expect(ended).toEqual([7])
    queue.write(flat(4000, 1000), 8)
    for (let i = 0; i < 10; i++) next()
    queue.pause(20)
    expect([next(), next(), next()]).toEqual([1000, 1000, 1000])
    queue.resume(20)
    expect([next(), next()].at(-1)).toBe(5000)
    queue.cut()
    expect([next(), next()]).toEqual([1000, 1000])
  })

  it('has one source with the speech, so that the packets are numbered without a gap', () => {
    begin()
    const silent = mixer.compose(8000)
    queue.write(flat(4000, 200))
    mixer.compose(8000)
    expect(mixer.compose(8000)).toBe(silent)
  })

  it('waits while a prompt plays, with a fade before and after it', () => {
    begin(Int16Array.from({ length: 1600 }, (_, i) => i))
    expect([next(), next()]).toEqual([159, 319])
    mixer.play(1, flat(2000, 60), 8000, 1, 0)
    mixer.compose(8000)
    expect([mixer.frame[1]! > 2300, mixer.frame[159]]).toEqual([true, 2000])
    mixer.finish()
    expect([next(), next()]).toEqual([2000, 2000])
    expect(played).toEqual([1])
    // The rise begins with the sample after those of the fall.
    expect([next(), next()]).toEqual([639, 799])
  })

  it('is heard only under speech while other ports are joined', () => {
    begin()
    next()
    mixer.isJoined = true
    expect([mixer.isWaiting, next(), next()]).toEqual([false, undefined, undefined])
    queue.write(flat(4000, 100))
    expect([next(), next(), next()]).toEqual([5000, 5000, 5000])
    expect([next(), next(), next()]).toEqual([5000, 5000, undefined])
    mixer.isJoined = false
    expect(next()).toBe(1000)
  })

  it('follows another one, whose end fades', () => {
    begin()
    next()
    begin(flat(-3000, 100))
    mixer.compose(8000)
    expect([mixer.frame[0]! > 900, mixer.frame[159]]).toEqual([true, -3000])
    expect(next()).toBe(-3000)
  })

  it('has its own volume and rate, and is clipped with loud speech', () => {
    background.set({ samples: sine(440, 1000, 16_000), sampleRate: 16_000, volumeDb: -20 })
    for (let i = 0; i < 5; i++) next()
    expect(levelDb(mixer.frame)).toBeCloseTo(levelDb(sine(440, 20)) - 20, 0)
    begin(flat(20_000, 100))
    queue.write(flat(20_000, 100))
    next()
    next()
    expect(next()).toBe(32_767)
  })

  it('leaves with its tap', () => {
    begin()
    next()
    mixer.removeQueue(queue, background)
    expect([mixer.isWaiting, next()]).toEqual([false, undefined])
  })

  it('tells whether it was alone in the last frame', () => {
    begin()
    next()
    expect(background.isAlone).toBe(true)
    mixer.play(1, flat(2000, 20), 8000, 1, 0)
    next()
    expect(background.isAlone).toBe(false)
    next()
    expect(background.isAlone).toBe(true)
    background.set(undefined)
    next()
    next()
    expect(background.isAlone).toBe(false)
  })
})

describe('the gain of a tap', () => {
  it('applies to all speech, whatever its fades, and does not change what counts as heard', () => {
    const queue = new SpeechQueue(8000, () => {}, -6.0206)
    queue.write(flat(8000, 200), 1)
    expect([queue.take(8000)?.[0], queue.take(8000)?.[159]]).toEqual([4000, 4000])
    expect(queue.cut()).toEqual([{ item: 1, heardMs: 50 }])
    const fade = queue.take(8000)
    expect(fade![0]).toBeGreaterThan(3900)
    expect(fade![0]).toBeLessThanOrEqual(4000)
    expect(fade![159]).toBe(0)
  })
})
