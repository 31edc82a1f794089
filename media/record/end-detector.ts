import type { RecordingEnd, RecordRequest } from '../types.ts'

/** Length of a frame in ms. */
export const frameMs = 20

/**
 * Decides when a recording ends, in frames of 20 ms. Pauses that are omitted from the file are not passed in.
 */
export class EndDetector {
  #request: RecordRequest
  #ms = 0
  #silentMs = 0
  #hasSpoken = false

  constructor(request: RecordRequest) {
    this.#request = request
  }

  /**
   * Processes a frame; `isVoice`: the far end speaks. Returns the reason if the recording ends with this
   * frame.
   */
  frame(isVoice: boolean): RecordingEnd | undefined {
    const end = this.paused()
    this.#silentMs = isVoice ? 0 : this.#silentMs + frameMs
    this.#hasSpoken ||= isVoice
    if (this.#silentMs >= this.#patienceMs()) return { kind: this.#hasSpoken ? 'silence' : 'no-input' }
    return end
  }

  /**
   * Processes a frame of a pause that is silence in the file, or one that waited. It counts towards the
   * length, but not as silence of the far end.
   */
  paused(): RecordingEnd | undefined {
    this.#ms += frameMs
    return this.isFull ? { kind: 'limit' } : undefined
  }

  /** Whether the longest duration is reached. */
  get isFull(): boolean {
    return this.#ms >= (this.#request.maxMs ?? Number.POSITIVE_INFINITY)
  }

  /** Processes a digit of the far end. */
  digit(digit: string): RecordingEnd | undefined {
    const isTerminator = digit.length === 1 && this.#request.terminators?.includes(digit)
    return isTerminator ? { kind: 'terminator', digit } : undefined
  }

  /**
   * Returns the length of silence that ends the recording, in ms. Before the first word, `initialSilenceMs`
   * applies if configured.
   */
  #patienceMs(): number {
    const { endSilenceMs = Number.POSITIVE_INFINITY, initialSilenceMs } = this.#request
    return this.#hasSpoken ? endSilenceMs : (initialSilenceMs ?? endSilenceMs)
  }
}
