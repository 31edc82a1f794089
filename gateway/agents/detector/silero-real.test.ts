/**
 * Silero's real model on speech and on sounds without speech. It runs if `SILERO_PACKAGES` names a folder in
 * which the packages are installed, as docs/agent-turns.md describes.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { VoiceReflex } from '../../../media/detect/voice-reflex.ts'
import { createSounds } from '../../../media/sound/sounds.ts'
import type { Sounds, TapEvent } from '../../../media/types.ts'
import { FakeClock } from '../../core/clock.ts'
import type { Log } from '../../core/log.ts'
import { findSilero } from './silero-files.ts'
import { SileroThread } from './silero-thread.ts'
import type { SpeechDetector } from './speech-detector.ts'
import { VoiceCheck } from './voice-check.ts'

// biome-ignore lint/style/noProcessEnv: the packages are none of the project's
const folder = process.env.SILERO_PACKAGES
const reason = folder ? '' : ' (skipped: SILERO_PACKAGES names no folder with its packages)'

const frameSamples = 160
const random = (() => {
  let state = 1
  return () => {
    state = (state * 48_271) % 2_147_483_647
    return (2 * state) / 2_147_483_647 - 1
  }
})()

/** Samples of a duration in ms, by their times in s; full scale is 1. */
const made = (ms: number, of: (t: number) => number): Int16Array =>
  Int16Array.from({ length: ms * 8 }, (_, i) => Math.round(32_767 * of(i / 8000)))

/** Noise that begins suddenly, and fades: a cough. */
const cough = (ms: number): Int16Array => {
  let last = 0
  return made(ms, (t) => {
    last += 0.45 * (random() - last)
    return 0.6 * Math.min(1, t / 0.01) * Math.exp((-2300 * t) / ms) * last
  })
}

const sounds: readonly (readonly [string, Int16Array])[] = [
  ...[150, 250, 350, 450].map((ms) => [`a cough of ${ms} ms`, cough(ms)] as const),
  ['a noise', made(900, () => 0.2 * random())],
  ['knocks', made(600, (t) => (t % 0.15 < 0.03 ? 0.5 * random() : 0))],
  ['a ringing tone', made(1000, (t) => 0.25 * Math.sin(2 * Math.PI * 425 * t))],
  ['a beep', made(400, (t) => 0.25 * Math.sin(2 * Math.PI * 1000 * t))],
  ['a rumble', made(700, (t) => 0.3 * Math.sin(2 * Math.PI * 100 * t) + 0.02 * random())],
]

const words = [
  'Hello',
  'Stop',
  'Yes',
  'No, that is wrong',
  'six seven',
  'Mm-hmm',
  'I would like a table for four',
]

describe.skipIf(!folder)(`Silero's real model${reason}`, () => {
  let detector: SileroThread
  let speech: Sounds
  const isReady = Promise.withResolvers<void>()

  beforeAll(async () => {
    const log = {
      info: () => isReady.resolve(),
      warn: (fields: object) => isReady.reject(new Error(JSON.stringify(fields))),
    } as unknown as Log
    const metrics = { agentDetectorFailures: { inc: () => {} } } as never
    const files = findSilero({ folder: folder!, runtime: 'onnxruntime-node', threshold: 0.5 })
    detector = new SileroThread(files, 0.5, { clock: new FakeClock(), log, metrics })
    speech = createSounds({ voice: 'awb' })
    detector.open(() => {}).close()
    await isReady.promise
  })

  afterAll(async () => {
    await detector.close()
    await speech.close()
  })

  /** Plays audio after a second of a quiet line, and returns what the check reports. */
  const reports = async (audio: Int16Array, canWait: boolean): Promise<readonly string[]> => {
    const found: string[] = []
    const line = new Int16Array(audio.length + 8000 + 6400).map(() => Math.round(6 * random()))
    audio.forEach((sample, at) => {
      line[8000 + at]! += sample
    })
    const watched = new WatchedDetector(detector)
    const listener = {
      canWait,
      onVoice: () => void found.push('voice'),
      onVoiceEnd: () => void found.push('end'),
      onNoise: () => void found.push('noise'),
      onVerdict: (verdict: string) => void found.push(`= ${verdict}`),
    }
    const check = new VoiceCheck(listener, watched, 8000, new FakeClock())
    const onEvent = (event: TapEvent) => {
      if (event.kind === 'voice-began') check.began(event.atMs, event.isFaded)
      else if (event.kind === 'voice-ended') check.ended(event.atMs)
    }
    const quiet = { queued: 0, isSpeaking: false, pause: () => {} }
    const reflex = new VoiceReflex({}, { rate: 8000, speech: quiet, onEvent })
    for (let at = 0; at + frameSamples <= line.length; at += frameSamples) {
      const samples = line.slice(at, at + frameSamples)
      reflex.hear(samples, at / 8)
      check.frame({ track: 'in', atMs: at / 8, samples })
      await watched.isDone()
    }
    check.close()
    return found
  }

  it.each(words)('takes speech for voice: %s', async (text) => {
    const { samples } = await speech.prepare({ kind: 'speech', text }, 8000)
    for (const canWait of [true, false]) {
      const found = await reports(samples, canWait)
      expect(found.slice(0, 1)).toEqual(['voice'])
      expect(found.filter((each) => each.startsWith('='))).toContain('= voice')
    }
  })

  it.each(sounds)('takes %s for none', async (_, audio) => {
    const found = await reports(audio, true)
    expect(found.filter((each) => !each.startsWith('='))).toEqual([])
    expect(found).not.toContain('= voice')
    const atOnce = await reports(audio, false)
    // The meter hears no voice in steady tones, and in sounds of less than 60 ms.
    for (const [at, each] of atOnce.entries()) if (each === 'voice') expect(atOnce[at + 1]).toBe('noise')
  })

  it('sees more than one of these sounds', async () => {
    expect(await reports(cough(350), false)).toEqual(['voice', 'noise', '= noise'])
  })
})

/** Detector of which a test knows when it has given all results. */
class WatchedDetector implements SpeechDetector {
  readonly threshold: number
  readonly #detector: SpeechDetector
  #sent = 0
  #windows = 0
  #wake: () => void = () => {}

  constructor(detector: SpeechDetector) {
    this.#detector = detector
    this.threshold = detector.threshold
  }

  open(onWindow: (probability: number) => void): ReturnType<SpeechDetector['open']> {
    const stream = this.#detector.open((probability) => {
      this.#windows++
      onWindow(probability)
      this.#wake()
    })
    return {
      begin: () => {
        this.#sent = 0
        this.#windows = 0
        stream.begin()
      },
      hear: (samples) => {
        this.#sent += samples.length
        return stream.hear(samples)
      },
      close: () => stream.close(),
    }
  }

  async isDone(): Promise<void> {
    while (this.#windows < Math.floor(this.#sent / 256))
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
  }

  async close(): Promise<void> {}
}
