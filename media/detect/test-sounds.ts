/** Sounds that the detectors are tested with: what telephones, machines and people let one hear. All at 8 kHz. */
import { decode, encode, type G711 } from '../codecs/g711.ts'
import { amplitudeOf, randomFrom, render } from '../rtp/testing/dtmf-tones.ts'
import { createSounds } from '../sound/sounds.ts'
import type { DetectRequest, SoundSource } from '../types.ts'
import { Listening } from './listening.ts'
import { DETECT_RATE } from './tone-meter.ts'

export { joined } from '../rtp/testing/dtmf-tones.ts'

/** Samples of 20 ms. */
const FRAME = DETECT_RATE / 50

/** What lies under all others: digital silence. */
export const quiet = (ms: number): Int16Array => render(DETECT_RATE, ms, () => 0)

/** A sine, or several at once each of that level in dBm0. */
export const tone = (frequency: number | readonly number[], ms: number, dbm0 = -15): Int16Array => {
  const peak = amplitudeOf(dbm0)
  const all = [frequency].flat()
  return render(DETECT_RATE, ms, (t) => all.reduce((sum, f) => sum + peak * Math.sin(2 * Math.PI * f * t), 0))
}

/** The answer tone with its phase turned every 450 ms (V.25), or swelling with 15 Hz besides (V.8). */
export const reversing = (ms: number, dbm0 = -15, swell = 0): Int16Array => {
  const peak = amplitudeOf(dbm0)
  const sign = (t: number) => (Math.floor(t / 0.45) % 2 === 0 ? 1 : -1)
  const swelling = (t: number) => 1 + swell * Math.sin(2 * Math.PI * 15 * t)
  return render(DETECT_RATE, ms, (t) => peak * sign(t) * swelling(t) * Math.sin(2 * Math.PI * 2100 * t))
}

/** White noise whose power is that of a sine of the level in dBm0. */
export const noise = (ms: number, dbm0: number, seed = 1): Int16Array => {
  const random = randomFrom(seed)
  const deviation = amplitudeOf(dbm0) / Math.SQRT2
  return render(
    DETECT_RATE,
    ms,
    () => deviation * Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random()),
  )
}

/** Somebody who talks without a pause: noise that swells four times a second, as syllables do. */
export const talk = (ms: number, dbm0 = -12): Int16Array =>
  noise(ms, dbm0, 7).map((sample, i) => Math.round(sample * Math.sin((4 * Math.PI * i) / DETECT_RATE) ** 2))

/** Both at once, as long as the first. */
export const mixed = (a: Int16Array, b: Int16Array): Int16Array =>
  a.map((sample, i) => Math.max(-32_768, Math.min(32_767, sample + (b[i % b.length] ?? 0))))

/** As it comes out of a telephone line. */
export const overG711 = (law: G711, samples: Int16Array): Int16Array => decode(law, encode(law, samples))

/** Louder or quieter. */
export const louder = (samples: Int16Array, db: number): Int16Array =>
  samples.map((sample) => Math.max(-32_768, Math.min(32_767, Math.round(sample * 10 ** (db / 20)))))

/** Real sounds of the gateway: its voice, its ringing tones, its music. */
export const prepare = async (...sources: readonly SoundSource[]): Promise<readonly Int16Array[]> => {
  const sounds = createSounds({ voice: 'slt' })
  try {
    const prompts = await Promise.all(sources.map((source) => sounds.prepare(source, DETECT_RATE)))
    return prompts.map(({ samples }) => Int16Array.from(samples))
  } finally {
    await sounds.close()
  }
}

/** What the built-in voice says. */
export const speech = (text: string, voice = 'slt'): SoundSource => ({ kind: 'speech', text, voice })

/** The frames of a sound; what is left over at its end is dropped. */
export function* framesOf(samples: Int16Array): Generator<Int16Array> {
  for (let at = 0; at + FRAME <= samples.length; at += FRAME) yield samples.subarray(at, at + FRAME)
}

/** What is found in a sound, each with the ms of it that were heard by then: `machine@1700`. `over` stands last where that is known. */
export const listenTo = (samples: Int16Array, request: DetectRequest): readonly string[] => {
  const found: string[] = []
  let ms = 0
  const listening = new Listening(request, (finding) => {
    const what = finding.kind === 'ready' ? (finding.beep ? 'beep' : 'silence') : finding.kind
    const which = finding.kind === 'fax' ? finding.tone : finding.kind === 'digit' ? finding.digit : what
    found.push(`${which}@${ms}`)
  })
  for (const frame of framesOf(samples)) {
    ms += 20
    listening.hear(frame)
    if (listening.over) return [...found, `over@${ms}`]
  }
  return found
}

/** The same without the times. */
export const foundIn = (samples: Int16Array, request: DetectRequest): readonly string[] =>
  listenTo(samples, request).map((found) => found.replace(/@.*/, ''))
