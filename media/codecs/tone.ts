/** Test tones and their measurement. */

/**
 * Returns a sine of `frequency` Hz for `ms` milliseconds at `rate` samples per second; `amplitude` of 32767,
 * default 8000.
 */
export function sine(
  frequency: number,
  ms: number,
  rate = 8000,
  amplitude = 8000,
): Int16Array<SharedArrayBuffer> {
  const count = Math.round((ms * rate) / 1000)
  const samples = new Int16Array(new SharedArrayBuffer(count * 2))
  for (let i = 0; i < count; i++)
    samples[i] = Math.round(amplitude * Math.sin((2 * Math.PI * frequency * i) / rate))
  return samples
}

/**
 * Returns the fraction of the signal's power at `frequency` (Goertzel's filter): near 1 for a pure sine, near
 * 0 for other signals and silence. 100 ms or more of samples give a resolution of 10 Hz.
 */
export function goertzel(samples: ArrayLike<number>, frequency: number, rate = 8000): number {
  const coefficient = 2 * Math.cos((2 * Math.PI * frequency) / rate)
  let last = 0
  let before = 0
  let power = 0
  for (let i = 0; i < samples.length; i++) {
    const sample = samples[i]!
    const now = sample + coefficient * last - before
    before = last
    last = now
    power += sample * sample
  }
  if (power === 0) return 0
  const atFrequency = last * last + before * before - coefficient * last * before
  return (2 * atFrequency) / (samples.length * power)
}

/**
 * Returns the strongest frequency in steps of 10 Hz, from 50 Hz to 50 Hz below half the rate; 0 for silence.
 */
export function dominant(samples: ArrayLike<number>, rate = 8000): number {
  let best = 0
  let most = 0.01
  for (let frequency = 50; frequency <= rate / 2 - 50; frequency += 10) {
    const share = goertzel(samples, frequency, rate)
    if (share > most) {
      most = share
      best = frequency
    }
  }
  return best
}

/**
 * Returns the power of the best-fitting sine of any level and phase, and the total power, as sums of squares.
 */
export function fitTone(
  samples: ArrayLike<number>,
  frequency: number,
  rate = 8000,
): { readonly tone: number; readonly power: number } {
  const step = (2 * Math.PI * frequency) / rate
  let cc = 0
  let ss = 0
  let cs = 0
  let xc = 0
  let xs = 0
  let power = 0
  for (let i = 0; i < samples.length; i++) {
    const c = Math.cos(step * i)
    const s = Math.sin(step * i)
    const x = samples[i]!
    cc += c * c
    ss += s * s
    cs += c * s
    xc += x * c
    xs += x * s
    power += x * x
  }
  const determinant = cc * ss - cs * cs
  return { tone: (xc * (xc * ss - xs * cs) + xs * (xs * cc - xc * cs)) / determinant, power }
}

/**
 * Returns the signal-to-noise ratio in dB of the best-fitting sine of `frequency` against everything else. 50
 * ms or more of samples distinguish frequencies 100 Hz apart from a constant.
 */
export function toneSnr(samples: ArrayLike<number>, frequency: number, rate = 8000): number {
  const { tone, power } = fitTone(samples, frequency, rate)
  return 10 * Math.log10(tone / Math.max(power - tone, 1e-9))
}
