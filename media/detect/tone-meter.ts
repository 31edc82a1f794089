import { fitTone } from '../codecs/tone.ts'
import { levelDb, minLevelDb } from '../rtp/voice-activity.ts'

/** Samples per second of all detection: the tones of telephones end below 4 kHz. */
export const DETECT_RATE = 8000

/** Frequencies in Hz that are looked at first, one period of the frame apart; what lies beyond is not looked for. */
const LOWEST = 350
const HIGHEST = 2150
const STEP = 50
/** Quieter than this, in dBov, is no tone: -43 dBm0, the weakest that V.25 and T.30 ask for. */
const WEAKEST_DB = -46

/** A tone in the middle between two of them, with as much of noise, has this share at the nearer one; what has less is none. */
const LEAST_SHARE = 0.25

const grid = Array.from({ length: (HIGHEST - LOWEST) / STEP + 1 }, (_, i) => LOWEST + i * STEP)
const coefficients = grid.map((frequency) => 2 * Math.cos(turn(frequency)))

/** Finds the strongest frequency of a frame, and how much of the frame's power is there. */
export class ToneMeter {
  /** In Hz, to 2 Hz or so where the tone is 10 dB above the rest. */
  frequency = 0
  /** Share of the power that a sine of that frequency makes up, 0 to 1. */
  share = 0
  /** Of the whole frame, in dBov. */
  levelDb = minLevelDb

  /** Takes 20 ms at {@link DETECT_RATE}; undefined is silence. */
  measure(frame: Int16Array | undefined): void {
    this.frequency = 0
    this.share = 0
    this.levelDb = frame ? levelDb(frame) : minLevelDb
    if (!frame || this.levelDb < WEAKEST_DB) return
    const nearest = strongest(frame)
    if (nearest === undefined) return
    this.frequency = refined(frame, nearest)
    const { tone, power } = fitTone(frame, this.frequency)
    // What the sine that fits best makes up of the power.
    this.share = tone / power
  }
}

/** Radians per sample. */
function turn(frequency: number): number {
  return (2 * Math.PI * frequency) / DETECT_RATE
}

/** The frequency of the grid with the most power (Goertzel's filter); undefined where none has much. */
function strongest(frame: Int16Array): number | undefined {
  let all = 0
  for (let n = 0; n < frame.length; n++) all += frame[n]! * frame[n]!
  let best: number | undefined
  let most = (LEAST_SHARE * all * frame.length) / 2
  for (let i = 0; i < grid.length; i++) {
    const coefficient = coefficients[i]!
    let last = 0
    let before = 0
    for (let n = 0; n < frame.length; n++) {
      const now = frame[n]! + coefficient * last - before
      before = last
      last = now
    }
    const power = last * last + before * before - coefficient * last * before
    if (power <= most) continue
    most = power
    best = grid[i]
  }
  return best
}

/** The true frequency near one of the grid, by how its phase goes on from the first half of the frame to the second. */
function refined(frame: Int16Array, frequency: number): number {
  const half = frame.length / 2
  const first = correlate(frame, 0, half, frequency)
  const second = correlate(frame, half, frame.length, frequency)
  const re = second.re * first.re + second.im * first.im
  const im = second.im * first.re - second.re * first.im
  return frequency + (Math.atan2(im, re) * DETECT_RATE) / (2 * Math.PI * half)
}

function correlate(
  frame: Int16Array,
  from: number,
  to: number,
  frequency: number,
): { re: number; im: number } {
  const step = turn(frequency)
  let re = 0
  let im = 0
  for (let n = from; n < to; n++) {
    re += frame[n]! * Math.cos(step * n)
    im -= frame[n]! * Math.sin(step * n)
  }
  return { re, im }
}
