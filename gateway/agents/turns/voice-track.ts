/** Voice without recognition after which the recogniser is opened again, in ms; doubles each time. */
const firstReviveMs = 5000
const maxReviveMs = 60_000

/** Detected voice of the caller, and the recognition that it led to. Times are uptimes in ms. */
export class VoiceTrack {
  /** Whether voice is detected now. */
  isVoiced = false
  beganAt: number | undefined
  endedAt: number | undefined
  /** Whether the voice in progress has given no words for long: noise. */
  isNoise = false
  /** Whether the recogniser gives only final recognitions, as far as was seen. */
  isFinalOnly = false
  #hadPartial = false
  /** Voiced time without recognition before {@link #countedFrom}, and the limit for it. */
  #silentMs = 0
  #countedFrom = 0
  #reviveMs = firstReviveMs

  /** Voice began. */
  begin(at: number): void {
    if (this.isVoiced) return
    this.isVoiced = true
    this.isNoise = false
    this.beganAt = at
    this.#countedFrom = at
  }

  /** Voice ended. */
  end(at: number): void {
    if (!this.isVoiced) return
    this.isVoiced = false
    this.isNoise = false
    this.endedAt = Math.max(at, this.beganAt ?? at)
    this.#silentMs += Math.max(0, at - this.#countedFrom)
  }

  /** The recogniser gave words. */
  recognised(isFinal: boolean, now: number): void {
    this.isNoise = false
    this.#silentMs = 0
    this.#countedFrom = now
    this.#reviveMs = firstReviveMs
    if (isFinal && !this.#hadPartial) this.isFinalOnly = true
    if (!isFinal) {
      this.#hadPartial = true
      this.isFinalOnly = false
    }
  }

  /** Time at which the recogniser has been silent for too long, if the voice goes on. */
  get reviveAt(): number | undefined {
    return this.isVoiced ? this.#countedFrom + this.#reviveMs - this.#silentMs : undefined
  }

  /** The recogniser is opened again: the next wait is twice as long. */
  revived(now: number): void {
    this.#silentMs = 0
    this.#countedFrom = now
    this.#reviveMs = Math.min(maxReviveMs, this.#reviveMs * 2)
    this.isNoise = this.isVoiced
  }
}
