import type { PcmRate } from '../types.ts'
import type { SharedAudio } from './shared-audio.ts'

/** Exchange of frames in place of a partner: an input of a mixer, or a session in another thread. */
export interface FrameChannel {
  /** Rate of the frames from {@link read}, and maximum useful rate of those for {@link write}. */
  readonly rate: PcmRate
  /** Whether the far end gets packets of silence while {@link read} returns none, as in a mixer. */
  readonly isContinuous: boolean
  /** Encodings of the frame from {@link read}, if others hear the same; default none. */
  readonly shared?: SharedAudio | undefined
  /**
   * Writes 20 ms of the far end's audio at `rate`; undefined for silence. The samples must stay unchanged
   * until {@link read}.
   */
  write(frame: Int16Array | undefined, rate: PcmRate): void
  /** Reads 20 ms for the far end; undefined for silence. Valid until the next {@link write}. */
  read(): Int16Array | undefined
  /** Leaves the channel. Idempotent. */
  close(): void
}
