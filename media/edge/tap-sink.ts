import type { AudioSink } from '../rtp/audio-sinks.ts'
import { framesPerSecond } from '../rtp/rate-adapter.ts'
import { SpeechQueue } from '../rtp/speech-queue.ts'
import type { PcmRate, TapFrame, TapRequest } from '../types.ts'

/** Length of a frame, in ms. */
const frameMs = 1000 / framesPerSecond

/** Tap inside a media thread: reports frames, and accepts speech through {@link queue}. */
export class TapSink implements AudioSink {
  readonly rate: PcmRate
  readonly tracks: TapRequest['tracks']
  readonly queue: SpeechQueue
  #onFrame: (frame: TapFrame) => void
  #onClosed: () => void
  #atMs = 0

  /** `onClosed` is called when the port is closed. */
  constructor(request: TapRequest, onFrame: (frame: TapFrame) => void, onClosed: () => void) {
    this.rate = request.sampleRate
    this.tracks = request.tracks
    this.queue = new SpeechQueue(request.sampleRate)
    this.#onFrame = onFrame
    this.#onClosed = onClosed
  }

  write(input: Int16Array | undefined, output: Int16Array | undefined): void {
    if (this.tracks !== 'out') this.#tell('in', input)
    if (this.tracks !== 'in') this.#tell('out', output)
    this.#atMs += frameMs
  }

  close(): void {
    this.queue.clear()
    this.#onClosed()
  }

  #tell(track: TapFrame['track'], frame: Int16Array | undefined): void {
    // A new array each time, because it is transferred to another thread.
    const samples = frame ? frame.slice() : new Int16Array(this.rate / framesPerSecond)
    this.#onFrame({ track, atMs: this.#atMs, samples })
  }
}
