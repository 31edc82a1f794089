/** Length that no recording exceeds, in bytes: the sizes in a WAV have 32 bits. */
export const MOST_BYTES = 0xffff_ffff

/** Turns frames of 20 ms into the bytes of a file. One per recording. */
export interface Format {
  /** Of the file, roughly; at least that. */
  readonly bytesPerSecond: number
  /** The file's first bytes, before its length is known. */
  begin(): Uint8Array
  /** Encodes a frame of each channel; of `right` there is none in mono. The bytes are valid until the next call. */
  encode(left: Int16Array, right: Int16Array | undefined): Uint8Array
  /** What is still held back; nothing is encoded after it. */
  finish(): Uint8Array
  /** Length of a file that holds the first `frames` frames, where what came after them is cut off. */
  lengthOf(frames: number): number
  /** The longest playable file within `length` bytes; 0 when there would be no sound in it. */
  playable(length: number): number
  /** Of a playable file, in ms. */
  durationMs(length: number): number
  /** What replaces {@link begin} when the file's length is known. */
  header(length: number): Uint8Array
  /** Gives back what it holds. Idempotent. */
  close(): void
}
