import type { Clock, Timer } from './clock.ts'

/** What {@link MutedCamera} works on. */
export interface CameraOwner {
  /** One after another with all else that changes devices. */
  serially<T>(run: () => Promise<T>): Promise<T>
  /** That is open. */
  track(): MediaStreamTrack | undefined
  /** The call has a place for its pictures. */
  wanted(): boolean
  /** Opens a camera, the one before if there was one, and sends it. Rejects with a `microphone_…` code. */
  open(before: MediaTrackConstraints | undefined): Promise<void>
  /** Closes it and sends nothing in its place. */
  close(): Promise<void>
}

/** So long the others are sent black, that it is what their last picture shows. */
const BLACK_MS = 1000

/** The camera while it is muted: it is closed, so that its light goes out, and opened again when it is let through. */
export class MutedCamera {
  readonly #clock: Clock
  readonly #owner: CameraOwner
  #muted = false
  /** Counts what was asked: of an opening that is under way the last word holds. */
  #asked = 0
  #closing: Timer | undefined
  #before: MediaTrackConstraints | undefined

  constructor(clock: Clock, owner: CameraOwner) {
    this.#clock = clock
    this.#owner = owner
  }

  /** True also while it is being opened again. */
  get isMuted(): boolean {
    return this.#muted
  }

  /** Closes it soon; what it sends until then is black already. */
  mute(): void {
    this.#muted = true
    this.#asked++
    this.#closing ??= this.#clock.after(BLACK_MS, () => {
      this.#closing = undefined
      this.#owner.serially(() => this.#close()).catch(() => {})
    })
  }

  /** Opens it again; undefined where there is nothing to open. Resolves with false when it was muted meanwhile, and rejects as opening does. */
  unmute(): Promise<boolean> | undefined {
    this.#asked++
    if (!this.#muted) return undefined
    this.stop()
    if (this.#owner.wanted() && !this.#owner.track()) return this.#owner.serially(() => this.#open())
    this.#muted = false
    return undefined
  }

  /** Another one is to be opened in its place when it is let through. */
  async forget(): Promise<void> {
    await this.#close()
    this.#before = undefined
  }

  /** Nothing is closed any more. Idempotent. */
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
