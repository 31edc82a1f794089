import type { RecordRequest } from '../types.ts'

/** Channels of a file. */
export interface Channels {
  left: Int16Array
  /** Undefined in mono. */
  right: Int16Array | undefined
}

/** Combines both directions into the channels of a file, frame by frame. */
export class Tracks {
  #tracks: RecordRequest['tracks']
  #silence: Int16Array
  #mixed: Int16Array
  #channels: Channels

  constructor(tracks: RecordRequest['tracks'], frameSamples: number) {
    this.#tracks = tracks
    this.#silence = new Int16Array(frameSamples)
    this.#mixed = new Int16Array(frameSamples)
    this.#channels = { left: this.#silence, right: undefined }
  }

  /**
   * Whether the recorded channels contain voice. `incoming`, `outgoing`: whether that direction has voice.
   */
  voiced(incoming: boolean, outgoing: boolean): boolean {
    if (this.#tracks === 'in') return incoming
    return this.#tracks === 'out' ? outgoing : incoming || outgoing
  }

  /** Returns the channels of one frame; undefined is silence. Valid until the next call. */
  take(incoming = this.#silence, outgoing = this.#silence): Readonly<Channels> {
    const channels = this.#channels
    if (this.#tracks === 'stereo') channels.right = outgoing
    channels.left =
      this.#tracks === 'both' ? this.#mix(incoming, outgoing) : this.#tracks === 'out' ? outgoing : incoming
    return channels
  }

  /** Sums and clips, like a mixer. */
  #mix(a: Int16Array, b: Int16Array): Int16Array {
    const mixed = this.#mixed
    for (let i = 0; i < mixed.length; i++) mixed[i] = Math.max(-32_768, Math.min(32_767, a[i]! + b[i]!))
    return mixed
  }
}
