/** Maximum length of a recording in bytes: sizes in a WAV have 32 bits. */
export const maxFileBytes = 0xffff_ffff

/** Turns frames of 20 ms into the bytes of a file. One per recording. */
export interface RecordingFormat {
  /** Approximate data rate of the file, rounded up. */
  readonly bytesPerSecond: number
  /** Returns the first bytes of the file, before its length is known. */
  begin(): Uint8Array
  /**
   * Encodes a frame of each channel; `right` is undefined in mono. The bytes are valid until the next call.
   */
  encode(left: Int16Array, right: Int16Array | undefined): Uint8Array
  /** Returns the remaining bytes; nothing can be encoded afterwards. */
  finish(): Uint8Array
  /** Returns the length of a file that is cut off after the first `frames` frames. */
  lengthOf(frames: number): number
  /** Returns the longest playable length within `length` bytes; 0 if it would contain no audio. */
  playable(length: number): number
  /** Returns the duration of a playable file, in ms. */
  durationMs(length: number): number
  /** Returns the bytes that replace {@link begin} once the length is known. */
  header(length: number): Uint8Array
  /** Releases resources. Idempotent. */
  close(): void
}
