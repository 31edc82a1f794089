import { AudioDetector } from '../detect/audio-detector.ts'
import { detectRate } from '../detect/tone-meter.ts'
import type { AudioSink } from '../rtp/audio-sinks.ts'
import type { DetectFinding, DetectRequest } from '../types.ts'

/** Runs a detection on one port's far end. */
export class DetectionSink implements AudioSink {
  readonly rate = detectRate
  readonly tracks = 'in'
  #listening: AudioDetector
  #onOver: () => void

  /** `onOver` is called when nothing more will be found, or the port is closed. */
  constructor(request: DetectRequest, onFinding: (finding: DetectFinding) => void, onOver: () => void) {
    this.#listening = new AudioDetector(request, onFinding)
    this.#onOver = onOver
  }

  write(input: Int16Array | undefined): void {
    this.#listening.write(input)
    if (this.#listening.hasEnded) this.#onOver()
  }

  close(): void {
    this.#onOver()
  }
}
