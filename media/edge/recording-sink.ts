import type { Recorder } from '../record/recorder.ts'
import type { AudioSink } from '../rtp/audio-sinks.ts'
import type { PcmRate, RecordRequest } from '../types.ts'
import type { RecordingControl } from './protocol.ts'

/** Feeds a recorder with both directions of one port. */
export class RecordingSink implements AudioSink {
  readonly rate: PcmRate
  readonly tracks: AudioSink['tracks']
  #recorder: Recorder
  #onOver: () => void

  /** `onOver` is called when the recorder has ended although the port continues. */
  constructor(recorder: Recorder, request: RecordRequest, onOver: () => void) {
    this.rate = recorder.sampleRate
    this.tracks = requiredTracks(request)
    this.#recorder = recorder
    this.#onOver = onOver
  }

  write(input: Int16Array | undefined, output: Int16Array | undefined): void {
    if (!this.#recorder.hasEnded) this.#recorder.frame(input, output)
    if (this.#recorder.hasEnded) this.#onOver()
  }

  digit(digit: string): void {
    this.#recorder.digit(digit)
  }

  control(act: RecordingControl): void {
    if (act === 'stop') this.#recorder.stop()
    else if (act === 'resume') this.#recorder.resume()
    else this.#recorder.pause(act)
  }

  close(): void {
    this.#recorder.stop()
  }
}

/**
 * Returns the tracks that the recorder needs: silence detection requires the far end's audio even if it is
 * not recorded.
 */
function requiredTracks({ tracks, endSilenceMs, initialSilenceMs }: RecordRequest): AudioSink['tracks'] {
  if (tracks === 'in') return 'in'
  const endsBySilence = endSilenceMs !== undefined || initialSilenceMs !== undefined
  return tracks === 'out' && !endsBySilence ? 'out' : 'both'
}
