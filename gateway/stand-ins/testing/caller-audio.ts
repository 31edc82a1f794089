/** Audio of a caller for tests: noise that counts as speech, and silence. */

/** Returns noise of −17 dBov and of a length in ms. */
export const noise = (ms: number, rate: number): Int16Array => {
  let state = 1
  return Int16Array.from({ length: (ms * rate) / 1000 }, () => {
    // The generator of Park and Miller, so that every run is the same.
    state = (state * 48_271) % 2_147_483_647
    return (state % 16_000) - 8000
  })
}

/** Returns silence with a little noise, as a telephone line has. */
export const quiet = (ms: number, rate: number): Int16Array =>
  Int16Array.from({ length: (ms * rate) / 1000 }, (_, at) => (at % 2 === 0 ? 4 : -4))

/** Returns speech of a length in ms, and the silence after it. */
export const utterance = (speechMs: number, silenceMs: number, rate: number): Int16Array => {
  const speech = noise(speechMs, rate)
  const silence = quiet(silenceMs, rate)
  const whole = new Int16Array(speech.length + silence.length)
  whole.set(speech)
  whole.set(silence, speech.length)
  return whole
}

/** Returns samples as bytes in little-endian order. */
export const pcmBytes = (samples: Int16Array): Buffer => Buffer.from(Int16Array.from(samples).buffer)
