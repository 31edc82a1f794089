/** Frequency in Hz, length and ramps in ms, and peak: -12 dB of full scale. */
const FREQUENCY = 1000
const LENGTH_MS = 250
const RAMP_MS = 10
const PEAK = 8192

const made = new Map<number, Int16Array<SharedArrayBuffer>>()

/** The tone before a recording: 1000 Hz for 250 ms at -12 dB, without clicks. Made once per rate (samples per second) and thread. */
export function beep(rate: number): Int16Array<SharedArrayBuffer> {
  const known = made.get(rate)
  if (known) return known
  const count = (LENGTH_MS * rate) / 1000
  const ramp = (RAMP_MS * rate) / 1000
  const samples = new Int16Array(new SharedArrayBuffer(count * 2))
  for (let i = 0; i < count; i++) {
    const loud = Math.min(1, i / ramp, (count - i) / ramp)
    samples[i] = Math.round(PEAK * loud * Math.sin((2 * Math.PI * FREQUENCY * i) / rate))
  }
  made.set(rate, samples)
  return samples
}
