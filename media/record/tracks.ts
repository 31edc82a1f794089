import type { RecordRequest } from '../types.ts'

/** What goes into the file. */
export interface Channels {
  left: Int16Array
  /** Absent in mono. */
  right: Int16Array | undefined
}

/** Makes the file's channels of both directions, frame by frame. */
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

  /** Whether there is a voice in the file, by the voices of the far end and towards it. */
  voiced(incoming: boolean, outgoing: boolean): boolean {
    if (this.#tracks === 'in') return incoming
    return this.#tracks === 'out' ? outgoing : incoming || outgoing
  }

  /** The channels of one frame; undefined is silence. Valid until the next call. */
  take(incoming = this.#silence, outgoing = this.#silence): Readonly<Channels> {
    const channels = this.#channels
    if (this.#tracks === 'stereo') channels.right = outgoing
    channels.left =
      this.#tracks === 'both' ? this.#mix(incoming, outgoing) : this.#tracks === 'out' ? outgoing : incoming
    return channels
  }

  /** Clipped, as in a mixer. */
  #mix(a: Int16Array, b: Int16Array): Int16Array {
    const mixed = this.#mixed
    for (let i = 0; i < mixed.length; i++) mixed[i] = Math.max(-32_768, Math.min(32_767, a[i]! + b[i]!))
    return mixed
  }
}
