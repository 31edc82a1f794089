/** Meter of a stream's audio level. */
export interface LevelMeter {
  /** Returns the root mean square of the last 20 to 50 ms: 0 for silence to 1 for full scale. */
  level(): number
  /** Releases the audio graph. The stream itself continues. Idempotent. */
  close(): void
}

/** Converts a level for display: 0 at -60 dB and below, 1 at full scale, linear in decibels between. */
export const meterOf = (level: number): number =>
  level <= 0 ? 0 : Math.min(1, Math.max(0, 1 + (20 * Math.log10(level)) / 60))

/**
 * Measures a call's `localStream` or `remoteStream`, which must have an audio track already.
 * `context` may be shared by several meters; without it the meter creates one and closes it again.
 */
export const levels = (stream: MediaStream, context?: AudioContext): LevelMeter => {
  const audio = context ?? new AudioContext()
  // A context that is created outside a click starts suspended, and would always read silence.
  if (audio.state === 'suspended') void audio.resume().catch(() => {})
  const release = () => {
    if (!context) void audio.close().catch(() => {})
  }
  const source = sourceOf(audio, stream, release)
  const analyser = audio.createAnalyser()
  analyser.fftSize = 2048
  source.connect(analyser)
  const samples = new Float32Array(analyser.fftSize)
  let open = true
  return {
    level() {
      if (!open) return 0
      analyser.getFloatTimeDomainData(samples)
      let sum = 0
      for (const sample of samples) sum += sample * sample
      return Math.sqrt(sum / samples.length)
    },
    close() {
      if (!open) return
      open = false
      source.disconnect()
      release()
    },
  }
}

// Firefox rejects a stream whose sample rate differs from the context's.
const sourceOf = (audio: AudioContext, stream: MediaStream, release: () => void): AudioNode => {
  try {
    return audio.createMediaStreamSource(stream)
  } catch (error) {
    release()
    throw error
  }
}
