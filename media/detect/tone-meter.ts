import { fitTone } from '../codecs/tone.ts'
import { levelDb, minLevelDb } from '../rtp/voice-activity.ts'

/** Sampling rate of all detection: telephone tones are below 4 kHz. */
export const detectRate = 8000

/** Grid of the coarse search in Hz, one period of the frame apart. */
const minHz = 350
const maxHz = 2150
const stepHz = 50
/** Minimum level of a tone in dBov: -43 dBm0, the weakest that V.25 and T.30 require. */
const minToneDb = -46

/**
 * Minimum share of the power at a grid frequency: that of a tone halfway between two grid frequencies, with
 * equally strong noise.
 */
const minGridShare = 0.25

const grid = Array.from({ length: (maxHz - minHz) / stepHz + 1 }, (_, i) => minHz + i * stepHz)
const coefficients = grid.map((frequency) => 2 * Math.cos(turn(frequency)))

/** Finds the strongest frequency of a frame, and its share of the frame's power. */
export class ToneMeter {
  /** Frequency in Hz, accurate to about 2 Hz for a tone 10 dB above the rest. */
  frequency = 0
  /** Share of the power in a sine of that frequency, 0 to 1. */
  share = 0
  /** Level of the whole frame, in dBov. */
  levelDb = minLevelDb

  /** Processes 20 ms at {@link detectRate}; undefined is silence. */
  measure(frame: Int16Array | undefined): void {
    this.frequency = 0
    this.share = 0
    this.levelDb = frame ? levelDb(frame) : minLevelDb
    if (!frame || this.levelDb < minToneDb) return
    const nearest = strongest(frame)
    if (nearest === undefined) return
    this.frequency = refined(frame, nearest)
    const { tone, power } = fitTone(frame, this.frequency)
    // The share of the best-fitting sine in the power.
    this.share = tone / power
  }
}

/** Returns the radians per sample. */
function turn(frequency: number): number {
  return (2 * Math.PI * frequency) / detectRate
}

/** Returns the grid frequency with the most power (Goertzel's filter); undefined if none is strong enough. */
function strongest(frame: Int16Array): number | undefined {
  let all = 0
  for (let n = 0; n < frame.length; n++) all += frame[n]! * frame[n]!
  let best: number | undefined
  let most = (minGridShare * all * frame.length) / 2
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

/**
 * Returns the exact frequency near a grid frequency, by the phase advance between the halves of the frame.
 */
function refined(frame: Int16Array, frequency: number): number {
  const half = frame.length / 2
  const first = correlate(frame, 0, half, frequency)
  const second = correlate(frame, half, frame.length, frequency)
  const re = second.re * first.re + second.im * first.im
  const im = second.im * first.re - second.re * first.im
  return frequency + (Math.atan2(im, re) * detectRate) / (2 * Math.PI * half)
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
