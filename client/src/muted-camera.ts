import type { Clock, Timer } from './clock.ts'

/** Collaborator of {@link MutedCamera}. */
export interface CameraOwner {
  /** Runs after all other changes of devices. */
  serially<T>(run: () => Promise<T>): Promise<T>
  /** Track of the open camera. */
  track(): MediaStreamTrack | undefined
  /** Whether the call sends video. */
  wanted(): boolean
  /** Opens a camera, by default the previous one, and sends its video. Rejects with a `microphone_…` code. */
  open(before: MediaTrackConstraints | undefined): Promise<void>
  /** Closes the camera; nothing is sent in its place. */
  close(): Promise<void>
}

/**
 * Time for which black is sent before the camera closes, so that the last picture at the far side is black.
 */
const blackMs = 1000

/** Closes a muted camera, so that its light goes out, and opens it again when it is unmuted. */
export class MutedCamera {
  readonly #clock: Clock
  readonly #owner: CameraOwner
  #muted = false
  /** Counts calls of mute() and unmute(): while a camera opens, the latest one decides. */
  #asked = 0
  #closing: Timer | undefined
  #before: MediaTrackConstraints | undefined

  constructor(clock: Clock, owner: CameraOwner) {
    this.#clock = clock
    this.#owner = owner
  }

  /** Whether the camera is muted; true also while it is being opened again. */
  get isMuted(): boolean {
    return this.#muted
  }

  /** Closes the camera after a short time, during which it sends black. */
  mute(): void {
    this.#muted = true
    this.#asked++
    this.#closing ??= this.#clock.after(blackMs, () => {
      this.#closing = undefined
      this.#owner.serially(() => this.#close()).catch(() => {})
    })
  }

  /**
   * Opens the camera again; returns undefined if it need not be opened. Resolves with false if video was
   * muted again meanwhile. Rejects if the camera cannot be opened.
   */
  unmute(): Promise<boolean> | undefined {
    this.#asked++
    if (!this.#muted) return undefined
    this.stop()
    if (this.#owner.wanted() && !this.#owner.track()) return this.#owner.serially(() => this.#open())
    this.#muted = false
    return undefined
  }

  /** Forgets the closed camera: another one is opened when video is unmuted. */
  async forget(): Promise<void> {
    await this.#close()
    this.#before = undefined
  }

  /** Cancels a pending close. Idempotent. */
  stop(): void {
    this.#closing?.cancel()
    this.#closing = undefined
  }

  async #open(): Promise<boolean> {
    const asked = this.#asked
    if (this.#owner.wanted() && !this.#owner.track()) await this.#owner.open(this.#before)
    if (asked !== this.#asked) return false
    this.#muted = false
    return true
  }

  async #close(): Promise<void> {
    const track = this.#owner.track()
    if (!this.#muted || !track) return
    const { deviceId } = track.getSettings()
    this.#before = { ...(deviceId && { deviceId }), ...track.getConstraints() }
    await this.#owner.close()
  }
}
