/** Frequency in Hz, length and ramps in ms, and peak: -12 dB of full scale. */
const beepHz = 1000
const beepMs = 250
const rampMs = 10
const peakSample = 8192

const made = new Map<number, Int16Array<SharedArrayBuffer>>()

/**
 * Returns the tone before a recording: 1000 Hz for 250 ms at -12 dB with ramps. Created once per rate
 * (samples per second) and thread.
 */
export function beep(rate: number): Int16Array<SharedArrayBuffer> {
  const known = made.get(rate)
  if (known) return known
  const count = (beepMs * rate) / 1000
  const ramp = (rampMs * rate) / 1000
  const samples = new Int16Array(new SharedArrayBuffer(count * 2))
  for (let i = 0; i < count; i++) {
    const loud = Math.min(1, i / ramp, (count - i) / ramp)
    samples[i] = Math.round(peakSample * loud * Math.sin((2 * Math.PI * beepHz * i) / rate))
  }
  made.set(rate, samples)
  return samples
}
