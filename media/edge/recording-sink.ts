import { DelayedTrack } from '../record/delayed-track.ts'
import type { Recorder } from '../record/recorder.ts'
import type { AudioSink } from '../rtp/audio-sinks.ts'
import type { PcmRate, RecordRequest } from '../types.ts'
import type { RecordingControl } from './protocol.ts'

/**
 * Feeds a recorder with both directions of one port, in step as at the port's socket. The younger track waits
 * until it is as old as the other one, so the depth of the jitter buffer does not matter.
 */
export class RecordingSink implements AudioSink {
  readonly rate: PcmRate
  readonly tracks: AudioSink['tracks']
  readonly #recorder: Recorder
  readonly #onOver: () => void
  /** Undefined if only one track is recorded. */
  readonly #waiting: { readonly input: DelayedTrack; readonly output: DelayedTrack } | undefined

  /** `onOver` is called when the recorder has ended although the port continues. */
  constructor(recorder: Recorder, request: RecordRequest, onOver: () => void) {
    this.rate = recorder.sampleRate
    this.tracks = requiredTracks(request)
    this.#recorder = recorder
    this.#onOver = onOver
    if (request.tracks === 'both' || request.tracks === 'stereo')
      this.#waiting = { input: new DelayedTrack(this.rate), output: new DelayedTrack(this.rate) }
    recorder.drain = () => this.#drain()
  }

  write(input: Int16Array | undefined, output: Int16Array | undefined, lagMs: number): void {
    const waiting = this.#waiting
    if (waiting) this.#recorder.frame(waiting.input.pass(input, -lagMs), waiting.output.pass(output, lagMs))
    else this.#recorder.frame(input, output)
    if (this.#recorder.hasEnded) this.#onOver()
  }

  digit(digit: string): void {
    this.#recorder.digit(digit)
  }

  control(act: RecordingControl): void {
    if (act === 'stop') this.close()
    else if (act === 'resume') this.#recorder.resume()
    else this.#recorder.pause(act)
  }

  close(): void {
    this.#recorder.stop()
  }

  /** Records the audio that waits. */
  #drain(): void {
    if (!this.#waiting) return
    const { input, output } = this.#waiting
    while (input.delayMs > 0 || output.delayMs > 0) this.#recorder.rest(input.take(), output.take())
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
