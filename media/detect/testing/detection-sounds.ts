/** Sounds for tests of the detectors: telephone tones, machines and people. All at 8 kHz. */
import { decode, encode, type G711 } from '../../codecs/g711.ts'
import { amplitudeOf, randomFrom, render } from '../../rtp/testing/dtmf-tones.ts'
import { createSounds } from '../../sound/sounds.ts'
import type { DetectRequest, SoundSource } from '../../types.ts'
import { AudioDetector } from '../audio-detector.ts'
import { detectRate } from '../tone-meter.ts'

export { joined } from '../../rtp/testing/dtmf-tones.ts'

/** Samples of 20 ms. */
const frameSamples = detectRate / 50

/** Digital silence. */
export const quiet = (ms: number): Int16Array => render(detectRate, ms, () => 0)

/** Sine, or several at once, each of that level in dBm0. */
export const tone = (frequency: number | readonly number[], ms: number, dbm0 = -15): Int16Array => {
  const peak = amplitudeOf(dbm0)
  const all = [frequency].flat()
  return render(detectRate, ms, (t) => all.reduce((sum, f) => sum + peak * Math.sin(2 * Math.PI * f * t), 0))
}

/** Answer tone with phase reversals every 450 ms (V.25), optionally modulated with 15 Hz (V.8). */
export const reversing = (ms: number, dbm0 = -15, swell = 0): Int16Array => {
  const peak = amplitudeOf(dbm0)
  const sign = (t: number) => (Math.floor(t / 0.45) % 2 === 0 ? 1 : -1)
  const swelling = (t: number) => 1 + swell * Math.sin(2 * Math.PI * 15 * t)
  return render(detectRate, ms, (t) => peak * sign(t) * swelling(t) * Math.sin(2 * Math.PI * 2100 * t))
}

/** White noise with the power of a sine of that level in dBm0. */
export const noise = (ms: number, dbm0: number, seed = 1): Int16Array => {
  const random = randomFrom(seed)
  const deviation = amplitudeOf(dbm0) / Math.SQRT2
  return render(
    detectRate,
    ms,
    () => deviation * Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random()),
  )
}

/** Continuous talking: noise modulated four times a second, like syllables. */
export const talk = (ms: number, dbm0 = -12): Int16Array =>
  noise(ms, dbm0, 7).map((sample, i) => Math.round(sample * Math.sin((4 * Math.PI * i) / detectRate) ** 2))

/** Sum of both, with the length of the first. */
export const mixed = (a: Int16Array, b: Int16Array): Int16Array =>
  a.map((sample, i) => Math.max(-32_768, Math.min(32_767, sample + (b[i % b.length] ?? 0))))

/** Returns the samples after G.711 coding, as over a telephone line. */
export const overG711 = (law: G711, samples: Int16Array): Int16Array => decode(law, encode(law, samples))

/** Changes the volume. */
export const louder = (samples: Int16Array, db: number): Int16Array =>
  samples.map((sample) => Math.max(-32_768, Math.min(32_767, Math.round(sample * 10 ** (db / 20)))))

/** Prepares real sounds of the gateway: voice, ringing tones, music. */
export const prepare = async (...sources: readonly SoundSource[]): Promise<readonly Int16Array[]> => {
  const sounds = createSounds({ voice: 'slt' })
  try {
    const prompts = await Promise.all(sources.map((source) => sounds.prepare(source, detectRate)))
    return prompts.map(({ samples }) => Int16Array.from(samples))
  } finally {
    await sounds.close()
  }
}

/** Speech of the built-in voice. */
export const speech = (text: string, voice = 'slt'): SoundSource => ({ kind: 'speech', text, voice })

/** Splits a sound into frames; a remainder at the end is dropped. */
export function* framesOf(samples: Int16Array): Generator<Int16Array> {
  for (let at = 0; at + frameSamples <= samples.length; at += frameSamples)
    yield samples.subarray(at, at + frameSamples)
}

/**
 * Runs a detection. Returns the findings with their time in ms, such as `machine@1700`; the last is `over` if
 * the detection ended.
 */
export const listenTo = (samples: Int16Array, request: DetectRequest): readonly string[] => {
  const found: string[] = []
  let ms = 0
  const listening = new AudioDetector(request, (finding) => {
    const what = finding.kind === 'ready' ? (finding.beep ? 'beep' : 'silence') : finding.kind
    const which = finding.kind === 'fax' ? finding.tone : finding.kind === 'digit' ? finding.digit : what
    found.push(`${which}@${ms}`)
  })
  for (const frame of framesOf(samples)) {
    ms += 20
    listening.write(frame)
    if (listening.hasEnded) return [...found, `over@${ms}`]
  }
  return found
}

/** Runs a detection and returns the findings without times. */
export const foundIn = (samples: Int16Array, request: DetectRequest): readonly string[] =>
  listenTo(samples, request).map((found) => found.replace(/@.*/, ''))
