import { beforeAll, describe, expect, it } from 'vitest'
import { levelDb, VoiceActivityDetector } from '../rtp/voice-activity.ts'
import { EchoGuard } from './echo-guard.ts'
import {
  framesOf,
  joined,
  louder,
  mixed,
  noise,
  overG711,
  prepare,
  quiet,
  speech,
} from './testing/detection-sounds.ts'

/** Mean level of the audible frames, in dBov. */
const levelOf = (samples: Int16Array): number => {
  const powers = [...framesOf(samples)].map(levelDb).filter((db) => db > -45)
  return 10 * Math.log10(powers.reduce((sum, db) => sum + 10 ** (db / 10), 0) / powers.length)
}

/** Removes the silence at the beginning. */
const prompt = (samples: Int16Array): Int16Array =>
  samples.subarray(samples.findIndex((sample) => Math.abs(sample) > 300))

/** Audio after one pole of a low-pass at 600 Hz, with the level of before: an echo is never flat. */
const dull = (samples: Int16Array): Int16Array => {
  let last = 0
  const filtered = samples.map((sample) => {
    last += 0.38 * (sample - last)
    return Math.round(last)
  })
  return louder(filtered, levelOf(samples) - levelOf(filtered))
}

/** Returns the frame after the codec of the line. */
const coded = (frame: Int16Array | undefined): Int16Array | undefined => frame && overG711('PCMU', frame)

describe('the echo guard', () => {
  let agent: Int16Array
  let callers: readonly Int16Array[]

  beforeAll(async () => {
    const [first, ...others] = await prepare(
      speech(
        'Thank you for calling the surgery. Our opening hours are from eight in the morning until six in the ' +
          'evening. If you would like to make an appointment, please tell me your name and your date of birth.',
      ),
      speech('Wait, stop, I have a question about my appointment. Can you please change it?', 'rms'),
      speech('No no, that is not what I meant. Listen to me.', 'awb'),
      speech('Excuse me. I already said that.'),
    )
    agent = overG711('PCMU', first!)
    callers = others.map((each) => louder(prompt(each), levelOf(agent) - levelOf(each)))
  })

  /** Copy of the agent's voice. */
  const echo = (ms: number, db: number, voice = agent): Int16Array =>
    joined([quiet(ms), louder(voice, db), quiet(500 - ms)])

  /**
   * Returns the time in ms of the third voiced frame in succession that is no echo; infinite without one.
   */
  const detects = (received: Int16Array, sent = agent): number => {
    const level = new VoiceActivityDetector()
    const guard = new EchoGuard()
    const said = [...framesOf(joined([sent, quiet(500)]))]
    const heard = [...framesOf(received)]
    let run = 0
    for (let i = 0; i < said.length; i++) {
      const isVoice = level.update(coded(heard[i]))
      const isEcho = guard.isEcho(level.levelDb)
      run = isVoice && !isEcho ? run + 1 : 0
      if (run === 3) return i * 20
      guard.sent(levelDb(said[i]!))
    }
    return Number.POSITIVE_INFINITY
  }

  it('recognises a copy of 20 dB below, whatever its delay and spectrum', () => {
    for (const db of [-20, -26])
      for (let ms = 20; ms <= 300; ms += 35)
        expect([ms, detects(echo(ms, db)), detects(echo(ms, db - 2, dull(agent)))]).toEqual([
          ms,
          Number.POSITIVE_INFINITY,
          Number.POSITIVE_INFINITY,
        ])
  })

  it('recognises a copy with the noise of the line', () => {
    const received = mixed(echo(120, -20), noise(20_000, -52))
    expect(detects(received)).toBe(Number.POSITIVE_INFINITY)
  })

  /** Longest additional time until the caller is detected over the agent, beginning at several times. */
  const delay = (db: number, fromMs: number, more?: Int16Array): number => {
    const delays: number[] = []
    for (const caller of callers)
      for (let at = fromMs; at < agent.length / 8 - 1500; at += 470) {
        const received = joined([quiet(at), louder(caller, db)])
        const alone = detects(received, quiet(agent.length / 8))
        delays.push(detects(more ? mixed(joined([received, quiet(9000)]), more) : received) - alone)
      }
    expect(delays.length).toBeGreaterThan(15)
    return Math.max(...delays)
  }

  it('lets a caller at the level of the agent through at once, also over an echo', () => {
    expect(delay(0, 1500)).toBeLessThanOrEqual(20)
    expect(delay(-6, 1500)).toBeLessThanOrEqual(40)
    expect(delay(0, 1500, echo(120, -20))).toBeLessThanOrEqual(40)
  })

  it('lets a quiet caller through once the agent was heard without an echo', () => {
    expect(delay(-15, 1500)).toBeLessThanOrEqual(60)
  })

  it('lets everything through while nothing is sent, and after that', () => {
    const guard = new EchoGuard()
    expect(guard.isEcho(-60)).toBe(false)
    for (let i = 0; i < 50; i++) guard.sent(-20)
    expect([guard.isEcho(-45), guard.isEcho(-35)]).toEqual([true, false])
    for (let i = 0; i < 25; i++) guard.sent(-127)
    expect(guard.isEcho(-45)).toBe(false)
  })

  it('learns a new echo after a change of the line', () => {
    const guard = new EchoGuard()
    const passes = (receivedDb: number, seconds: number): boolean => {
      let isEcho = false
      for (let i = 0; i < seconds * 50; i++) {
        isEcho = guard.isEcho(receivedDb)
        guard.sent(-20)
      }
      return !isEcho
    }
    passes(-65, 10)
    expect([passes(-42, 0.1), passes(-42, 6), passes(-50, 0.1)]).toEqual([true, false, false])
  })

  it('learns nothing from a caller who speaks over a background alone', () => {
    const takesForEcho = (isSpeech: boolean): boolean => {
      const guard = new EchoGuard()
      for (let i = 0; i < 500; i++) {
        guard.isEcho(-30)
        guard.sent(-25, isSpeech)
      }
      for (let i = 0; i < 30; i++) guard.sent(-20)
      return guard.isEcho(-37.5)
    }
    expect([takesForEcho(true), takesForEcho(false)]).toEqual([true, false])
  })
})
