import type { PcmRate } from '../types.ts'

/** Exchange of frames in place of a partner: an input of a mixer, or a session in another thread. */
export interface FrameChannel {
  /** Rate of the frames in both directions. */
  readonly rate: PcmRate
  /**
   * Writes 20 ms of the far end's audio; undefined for silence. The samples must stay unchanged until {@link
   * read}.
   */
  write(frame: Int16Array | undefined): void
  /** Reads 20 ms for the far end; undefined for silence. Valid until the next {@link write}. */
  read(): Int16Array | undefined
  /** Leaves the channel. Idempotent. */
  close(): void
}
