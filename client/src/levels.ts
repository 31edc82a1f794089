/** Reads how loud a stream is. */
export interface LevelMeter {
  /** The loudness of the last 20 to 50 ms: the root mean square, 0 for silence to 1 for full scale. */
  level(): number
  /** Releases the audio graph. The stream itself goes on. Idempotent. */
  close(): void
}

/** A level for the eye: 0 at -60 dB and below, 1 at full scale, even steps of decibels between. */
export const meterOf = (level: number): number =>
  level <= 0 ? 0 : Math.min(1, Math.max(0, 1 + (20 * Math.log10(level)) / 60))

/**
 * Measures a call's `localStream` or `remoteStream`. The stream must have an audio track already. `context` may be shared by several
 * meters; without it the meter makes one and closes it again.
 */
export const levels = (stream: MediaStream, context?: AudioContext): LevelMeter => {
  const audio = context ?? new AudioContext()
  // A context made outside a click starts suspended, and would read silence for ever.
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

// Firefox refuses a stream of another sample rate than the context's.
const sourceOf = (audio: AudioContext, stream: MediaStream, release: () => void): AudioNode => {
  try {
    return audio.createMediaStreamSource(stream)
  } catch (error) {
    release()
    throw error
  }
}
