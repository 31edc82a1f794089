import type { RecordingEnd, RecordRequest } from '../types.ts'

/** Length of a frame in ms. */
export const FRAME_MS = 20

/** Decides when a recording is over, by frames of 20 ms; pauses that are left out are not told to it. */
export class Ending {
  #request: RecordRequest
  #ms = 0
  #silentMs = 0
  #spoke = false

  constructor(request: RecordRequest) {
    this.#request = request
  }

  /** Takes a frame; `voice` is whether the far end speaks in it. Gives the end when it comes with this frame. */
  frame(voice: boolean): RecordingEnd | undefined {
    const end = this.paused()
    this.#silentMs = voice ? 0 : this.#silentMs + FRAME_MS
    this.#spoke ||= voice
    if (this.#silentMs >= this.#patienceMs()) return { kind: this.#spoke ? 'silence' : 'no-input' }
    return end
  }

  /** Takes a frame of a pause that is silence in the file: it is as long as any other, and says nothing of who speaks. */
  paused(): RecordingEnd | undefined {
    const { maxMs = Number.POSITIVE_INFINITY } = this.#request
    this.#ms += FRAME_MS
    return this.#ms >= maxMs ? { kind: 'limit' } : undefined
  }

  /** Takes a digit of the far end. */
  digit(digit: string): RecordingEnd | undefined {
    const isTerminator = digit.length === 1 && this.#request.terminators?.includes(digit)
    return isTerminator ? { kind: 'terminator', digit } : undefined
  }

  /** How much silence is borne; before the first word that of the beginning, where it is given. */
  #patienceMs(): number {
    const { endSilenceMs = Number.POSITIVE_INFINITY, initialSilenceMs } = this.#request
    return this.#spoke ? endSilenceMs : (initialSilenceMs ?? endSilenceMs)
  }
}
