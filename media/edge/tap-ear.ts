import type { Ear } from '../rtp/ears.ts'
import { FRAMES } from '../rtp/rate.ts'
import { SpeakQueue } from '../rtp/speak-queue.ts'
import type { PcmRate, TapFrame, TapRequest } from '../types.ts'

/** Length of a frame, in ms. */
const FRAME_MS = 1000 / FRAMES

/** Tap inside a media thread: reports frames, and accepts speech through {@link queue}. */
export class TapEar implements Ear {
  readonly rate: PcmRate
  readonly tracks: TapRequest['tracks']
  readonly queue: SpeakQueue
  #onFrame: (frame: TapFrame) => void
  #onClosed: () => void
  #atMs = 0

  /** `onClosed` is called when the port is closed. */
  constructor(request: TapRequest, onFrame: (frame: TapFrame) => void, onClosed: () => void) {
    this.rate = request.sampleRate
    this.tracks = request.tracks
    this.queue = new SpeakQueue(request.sampleRate)
    this.#onFrame = onFrame
    this.#onClosed = onClosed
  }

  hear(input: Int16Array | undefined, output: Int16Array | undefined): void {
    if (this.tracks !== 'out') this.#tell('in', input)
    if (this.tracks !== 'in') this.#tell('out', output)
    this.#atMs += FRAME_MS
  }

  close(): void {
    this.queue.clear()
    this.#onClosed()
  }

  #tell(track: TapFrame['track'], frame: Int16Array | undefined): void {
    // A new array each time, because it is transferred to another thread.
    const samples = frame ? frame.slice() : new Int16Array(this.rate / FRAMES)
    this.#onFrame({ track, atMs: this.#atMs, samples })
  }
}
