import { FREQUENCIES, ToneBank } from './tone-bank.ts'

/** By row and column. */
const KEYS = '123A456B789C*0#D'
const NONE = -1

/** Seconds between two measurements. */
const STEP_SECONDS = 0.005
/** Peak of a sine of 0 dBm0: full scale is 3.17 dBm0 (ITU-T G.711 table 5). */
const PEAK_AT_0_DBM0 = 32_768 / 10 ** (3.17 / 20)
/** Mean square of the weakest tone that is taken: -28 dBm0, below the -25 that has to be. */
const WEAKEST = (PEAK_AT_0_DBM0 * 10 ** (-28 / 20)) ** 2 / 2
/** Column against row: from -8 to 4 dB, and 2.5 dB for what noise does to the measurement. */
const LOWEST_TWIST = 10 ** (-10.5 / 10)
const HIGHEST_TWIST = 10 ** (6.5 / 10)
/** The two tones have to be this share of all power in the window; the window may reach over the ends of the tone. */
const SHARE = 0.7
/** Once at least in a key press they have to be this much: a window that is all tone, with noise 11 dB below. */
const BEST_SHARE = 0.92
/** Farther from the nominal frequency than this share is refused: in the middle of 1.5 %, to be taken, and 3.5 %, to be refused. */
const TOLERANCE = 0.024
/** What single measurements may be off, as they are less exact than their mean. */
const STEP_TOLERANCE = 0.045
/** Below this the phases of a key press do not agree: no steady tone. */
const STEADY = 0.96
/** Measurements from the first hit to the last that a key press needs: a tone of 23 ms gives 3 or 4, seldom 5, one of 40 ms 6 to 8. */
const LEAST_LENGTH = 6
/** Hits among them: one may be missing. */
const LEAST_SHARE_OF_HITS = 0.75
/** So many measurements without the tone end it: a pause of 40 ms gives 8 or more, an interruption of 10 ms at most 5. */
const LONGEST_GAP = 6
/** What a window at both ends of a tone takes from its length, in ms. */
const EDGES_MS = 6

/** Told of a key press when it is over. */
export type InbandListener = (digit: string, durationMs: number) => void

/**
 * Hears DTMF in the audio (ITU-T Q.23, Q.24): a pair of steady tones, each within 1.5 % (refused from 3.5 % on) and of -25 dBm0 or more, the
 * column's 8 dB below to 4 dB above the row's, for 40 ms or more (23 ms are refused) with pauses of 40 ms, with noise 15 dB below. Nearly
 * all power has to be in the two tones, at the right frequencies and with steady phases: voices and music do not do that for so long.
 *
 * Each key press is reported once, 35 ms after its end. Nothing here knows of telephone-events: who sends them does not need this
 * detector, and is to be kept away from it by {@link clear} (a gateway may leave the beginning of the tone in the audio).
 */
export class InbandDigits {
  #bank: ToneBank
  #listener: InbandListener
  #silence: Int16Array
  #key = NONE
  #hits = 0
  /** Measurements from the first hit to the last. */
  #length = 0
  #gap = 0
  #bestShare = 0
  /** Sums of how the phases went on, of row and column; their angle is the mean offset. */
  #row = { re: 0, im: 0, all: 0 }
  #column = { re: 0, im: 0, all: 0 }

  constructor(rate: 8000 | 16000, listener: InbandListener) {
    this.#bank = new ToneBank(rate)
    this.#listener = listener
    this.#silence = new Int16Array(rate / 50)
  }

  /** Takes any number of samples; undefined is 20 ms of silence. */
  receive(samples: Int16Array | undefined): void {
    const heard = samples ?? this.#silence
    let at = this.#bank.take(heard, 0)
    while (at >= 0) {
      this.#follow(this.#measure())
      at = this.#bank.take(heard, at)
    }
  }

  /** Forgets a tone that has not been reported: it came as a telephone-event too, or the stream is another one. */
  clear(): void {
    this.#key = NONE
  }

  /** The key whose tones fill the last window, or NONE. */
  #measure(): number {
    const bank = this.#bank
    if (bank.power < WEAKEST) return NONE
    const row = this.#strongest(0)
    const column = this.#strongest(4)
    const rowOffset = this.#offset(row)
    const columnOffset = this.#offset(column)
    if (Math.abs(rowOffset) > FREQUENCIES[row]! * STEP_TOLERANCE) return NONE
    if (Math.abs(columnOffset) > FREQUENCIES[column]! * STEP_TOLERANCE) return NONE
    const rowPower = bank.tonePower(row, rowOffset)
    const columnPower = bank.tonePower(column, columnOffset)
    if (rowPower < WEAKEST || columnPower < WEAKEST) return NONE
    const twist = columnPower / rowPower
    if (twist < LOWEST_TWIST || twist > HIGHEST_TWIST) return NONE
    const share = (rowPower + columnPower) / bank.power
    if (share < SHARE) return NONE
    const key = row * 4 + column - 4
    if (key !== this.#key) this.#begin(key)
    this.#bestShare = Math.max(this.#bestShare, share)
    this.#addTo(this.#row, row)
    this.#addTo(this.#column, column)
    return key
  }

  /** The strongest of four tones. */
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

  /** How far a tone is from its nominal frequency, in Hz, by the phases of the last two windows. */
  #offset(tone: number): number {
    const { re, im, beforeRe, beforeIm } = this.#bank
    const turnRe = re[tone]! * beforeRe[tone]! + im[tone]! * beforeIm[tone]!
    const turnIm = im[tone]! * beforeRe[tone]! - re[tone]! * beforeIm[tone]!
    return Math.atan2(turnIm, turnRe) / (2 * Math.PI * STEP_SECONDS)
  }

  #addTo(phases: { re: number; im: number; all: number }, tone: number): void {
    const { re, im, beforeRe, beforeIm } = this.#bank
    const turnRe = re[tone]! * beforeRe[tone]! + im[tone]! * beforeIm[tone]!
    const turnIm = im[tone]! * beforeRe[tone]! - re[tone]! * beforeIm[tone]!
    phases.re += turnRe
    phases.im += turnIm
    phases.all += Math.hypot(turnRe, turnIm)
  }

  /** Counts a hit, or a measurement without the tone. */
  #follow(key: number): void {
    if (this.#key === NONE) return
    if (key === this.#key) {
      this.#hits++
      this.#length += this.#gap + 1
      this.#gap = 0
      return
    }
    this.#gap++
    if (this.#gap >= LONGEST_GAP) this.#finish()
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

  /** Reports the tone that is over, where it was a key press. */
  #finish(): void {
    const key = this.#key
    this.#key = NONE
    if (key === NONE || this.#length < LEAST_LENGTH || this.#bestShare < BEST_SHARE) return
    if (this.#hits < this.#length * LEAST_SHARE_OF_HITS) return
    const row = key >> 2
    const column = (key & 3) + 4
    if (!isAt(this.#row, FREQUENCIES[row]!) || !isAt(this.#column, FREQUENCIES[column]!)) return
    this.#listener(KEYS[key]!, Math.round(this.#length * STEP_SECONDS * 1000) + EDGES_MS)
  }
}

/** Whether a tone was steady, and near enough to its nominal frequency. */
function isAt(
  phases: { readonly re: number; readonly im: number; readonly all: number },
  frequency: number,
): boolean {
  if (Math.hypot(phases.re, phases.im) < STEADY * phases.all) return false
  const offset = Math.atan2(phases.im, phases.re) / (2 * Math.PI * STEP_SECONDS)
  return Math.abs(offset) <= frequency * TOLERANCE
}
