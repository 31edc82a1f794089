import type { MediaPort } from './port.ts'

/** End of a {@link RoomFile}: the file was played, or playing it has failed. */
export interface RoomFileEnd {
  /** Reason of a failure, in one line. */
  readonly failure?: string
}

/** File that plays into a room. It is paused at its beginning until {@link RoomFile.play}. */
export interface RoomFile {
  readonly hasVideo: boolean
  /** Undefined if the file does not say. */
  readonly durationMs: number | undefined
  /** Port with the sound, which belongs to the file; absent without sound. */
  readonly port?: MediaPort
  /** Place in the file, in ms. */
  readonly positionMs: number
  /** Plays from a place on, in ms; default the present one. */
  play(fromMs?: number): void
  /** Stays at the present place, whose picture remains. */
  pause(): void
  /** Goes to a place, in ms. A paused file stays paused. */
  seek(toMs: number): void
  /** Sets the only listener for the end. Not called after {@link RoomFile.close}. */
  onEnd(listener: (end: RoomFileEnd) => void): void
  /** Ends playing, and closes the port. Idempotent. Resolves when its process has ended, within 3 s. */
  close(): Promise<void>
}
