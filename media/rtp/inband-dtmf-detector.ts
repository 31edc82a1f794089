import { dtmfFrequencies, ToneBank } from './tone-bank.ts'

/** Keys by row and column. */
const dtmfKeys = '123A456B789C*0#D'
const noKey = -1

/** Interval between two measurements, in seconds. */
const stepSeconds = 0.005
/** Peak of a sine of 0 dBm0: full scale is 3.17 dBm0 (ITU-T G.711 table 5). */
const peakAt0Dbm0 = 32_768 / 10 ** (3.17 / 20)
/** Mean square of the weakest accepted tone: -28 dBm0, below the required -25. */
const minTonePower = (peakAt0Dbm0 * 10 ** (-28 / 20)) ** 2 / 2
/**
 * Permitted twist (column against row): -8 to 4 dB, plus 2.5 dB for the effect of noise on the measurement.
 */
const minTwist = 10 ** (-10.5 / 10)
const maxTwist = 10 ** (6.5 / 10)
/** Minimum share of the two tones in the window's power; the window may extend past the ends of the tone. */
const minShare = 0.7
/**
 * Minimum share that at least one window must reach: the share in a window that the tone fills, with noise 11
 * dB below.
 */
const minBestShare = 0.92
/**
 * Maximum relative deviation from the nominal frequency: halfway between 1.5 % (must be accepted) and 3.5 %
 * (must be rejected).
 */
const frequencyTolerance = 0.024
/** Maximum deviation of single measurements, which are less exact than their mean. */
const stepTolerance = 0.045
/** Minimum phase agreement over a key press; below it the tone is not steady. */
const minSteadiness = 0.96
/**
 * Minimum number of measurements from the first to the last hit. A tone of 23 ms gives 3 or 4, rarely 5; one
 * of 40 ms gives 6 to 8.
 */
const minLength = 6
/** Minimum share of hits among them. */
const minHitShare = 0.75
/**
 * Number of measurements without the tone that ends it. A pause of 40 ms gives 8 or more, an interruption of
 * 10 ms at most 5.
 */
const maxGap = 6
/**
 * Length by which the measured tone is too short, in ms, because the windows at both ends are only partly
 * filled.
 */
const edgesMs = 6

/** Called when a key press has ended. */
export type InbandListener = (digit: string, durationMs: number) => void

/**
 * Detects DTMF in audio (ITU-T Q.23, Q.24). Accepts a pair of steady tones within 1.5 % (rejected from 3.5 %
 * on) of -25 dBm0 or more. The column may be 8 dB below to 4 dB above the row. Tones last 40 ms or more (23
 * ms are rejected) with pauses of 40 ms and noise 15 dB below.
 *
 * Nearly all power must be in the two tones, at the right frequencies and with steady phases, which excludes
 * voices and music. Each key press is reported once, 35 ms after its end. The detector ignores
 * telephone-events: for senders of events, call {@link clear}, because a gateway may leave the start of the
 * tone in the audio.
 */
export class InbandDtmfDetector {
  #bank: ToneBank
  #listener: InbandListener
  #silence: Int16Array
  #key = noKey
  #hits = 0
  /** Measurements from the first hit to the last. */
  #length = 0
  #gap = 0
  #bestShare = 0
  /** Sums of the phase advances of row and column; their angle is the mean offset. */
  #row = { re: 0, im: 0, all: 0 }
  #column = { re: 0, im: 0, all: 0 }

  constructor(rate: 8000 | 16000, listener: InbandListener) {
    this.#bank = new ToneBank(rate)
    this.#listener = listener
    this.#silence = new Int16Array(rate / 50)
  }

  /** Processes any number of samples; undefined is 20 ms of silence. */
  receive(samples: Int16Array | undefined): void {
    const heard = samples ?? this.#silence
    let at = this.#bank.take(heard, 0)
    while (at >= 0) {
      this.#follow(this.#measure())
      at = this.#bank.take(heard, at)
    }
  }

  /** Discards an unreported tone: it was also sent as a telephone-event, or the stream has changed. */
  clear(): void {
    this.#key = noKey
  }

  /** Returns the key whose tones fill the last window, or NONE. */
  #measure(): number {
    const bank = this.#bank
    if (bank.power < minTonePower) return noKey
    const row = this.#strongest(0)
    const column = this.#strongest(4)
    const rowOffset = this.#offset(row)
    const columnOffset = this.#offset(column)
    if (Math.abs(rowOffset) > dtmfFrequencies[row]! * stepTolerance) return noKey
    if (Math.abs(columnOffset) > dtmfFrequencies[column]! * stepTolerance) return noKey
    const rowPower = bank.tonePower(row, rowOffset)
    const columnPower = bank.tonePower(column, columnOffset)
    if (rowPower < minTonePower || columnPower < minTonePower) return noKey
    const twist = columnPower / rowPower
    if (twist < minTwist || twist > maxTwist) return noKey
    const share = (rowPower + columnPower) / bank.power
    if (share < minShare) return noKey
    const key = row * 4 + column - 4
    if (key !== this.#key) this.#begin(key)
    this.#bestShare = Math.max(this.#bestShare, share)
    this.#addTo(this.#row, row)
    this.#addTo(this.#column, column)
    return key
  }

  /** Returns the strongest of four tones. */
  #strongest(first: number): number {
    const { re, im } = this.#bank
    let best = first
    let most = -1
    for (let tone = first; tone < first + 4; tone++) {
      const power = re[tone]! * re[tone]! + im[tone]! * im[tone]!
      if (power <= most) continue
      most = power
      best = tone
    }
    return best
  }

  /** Returns a tone's deviation from its nominal frequency in Hz, by the phases of the last two windows. */
  #offset(tone: number): number {
    const { re, im, beforeRe, beforeIm } = this.#bank
    const turnRe = re[tone]! * beforeRe[tone]! + im[tone]! * beforeIm[tone]!
    const turnIm = im[tone]! * beforeRe[tone]! - re[tone]! * beforeIm[tone]!
    return Math.atan2(turnIm, turnRe) / (2 * Math.PI * stepSeconds)
  }

  #addTo(phases: { re: number; im: number; all: number }, tone: number): void {
    const { re, im, beforeRe, beforeIm } = this.#bank
    const turnRe = re[tone]! * beforeRe[tone]! + im[tone]! * beforeIm[tone]!
    const turnIm = im[tone]! * beforeRe[tone]! - re[tone]! * beforeIm[tone]!
    phases.re += turnRe
    phases.im += turnIm
    phases.all += Math.hypot(turnRe, turnIm)
  }

  /** Counts a hit or a miss. */
  #follow(key: number): void {
    if (this.#key === noKey) return
    if (key === this.#key) {
      this.#hits++
      this.#length += this.#gap + 1
      this.#gap = 0
      return
    }
    this.#gap++
    if (this.#gap >= maxGap) this.#finish()
  }

  #begin(key: number): void {
    this.#finish()
    this.#key = key
    this.#hits = 0
    this.#length = 0
    this.#gap = 0
    this.#bestShare = 0
    this.#row = { re: 0, im: 0, all: 0 }
    this.#column = { re: 0, im: 0, all: 0 }
  }

  /** Reports the ended tone if it qualifies as a key press. */
  #finish(): void {
    const key = this.#key
    this.#key = noKey
    if (key === noKey || this.#length < minLength || this.#bestShare < minBestShare) return
    if (this.#hits < this.#length * minHitShare) return
    const row = key >> 2
    const column = (key & 3) + 4
    if (!isAt(this.#row, dtmfFrequencies[row]!) || !isAt(this.#column, dtmfFrequencies[column]!)) return
    this.#listener(dtmfKeys[key]!, Math.round(this.#length * stepSeconds * 1000) + edgesMs)
  }
}

/** Whether a tone was steady and close enough to its nominal frequency. */
function isAt(
  phases: { readonly re: number; readonly im: number; readonly all: number },
  frequency: number,
): boolean {
  if (Math.hypot(phases.re, phases.im) < minSteadiness * phases.all) return false
  const offset = Math.atan2(phases.im, phases.re) / (2 * Math.PI * stepSeconds)
  return Math.abs(offset) <= frequency * frequencyTolerance
}
