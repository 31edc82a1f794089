import { Listening } from '../detect/listening.ts'
import { DETECT_RATE } from '../detect/tone-meter.ts'
import type { AudioSink } from '../rtp/audio-sinks.ts'
import type { DetectFinding, DetectRequest } from '../types.ts'

/** Runs a detection on one port's far end. */
export class DetectionSink implements AudioSink {
  readonly rate = DETECT_RATE
  readonly tracks = 'in'
  #listening: Listening
  #onOver: () => void

  /** `onOver` is called when nothing more will be found, or the port is closed. */
  constructor(request: DetectRequest, onFinding: (finding: DetectFinding) => void, onOver: () => void) {
    this.#listening = new Listening(request, onFinding)
    this.#onOver = onOver
  }

  write(input: Int16Array | undefined): void {
    this.#listening.hear(input)
    if (this.#listening.over) this.#onOver()
  }

  close(): void {
    this.#onOver()
  }
}
