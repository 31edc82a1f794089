import type { PcmRate } from '../types.ts'

/** What a session exchanges frames with in place of a partner: a seat in a mixer, or a session of another thread. */
export interface FrameLine {
  /** Of the frames, both ways. */
  readonly rate: PcmRate
  /** Takes 20 ms of what the far end says; undefined for silence. The samples stay as they are until {@link hear} is called. */
  say(frame: Int16Array | undefined): void
  /** The 20 ms that the far end is to hear; undefined for silence. Valid until the next {@link say}. */
  hear(): Int16Array | undefined
  /** The session leaves. Idempotent. */
  close(): void
}
