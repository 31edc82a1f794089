/** Voice without recognition after which the recogniser is opened again, in ms; doubles each time. */
const firstReviveMs = 5000
const maxReviveMs = 60_000
/** Shortest voice that an engine has to react to, in ms: a cough is shorter. */
const minSpeechMs = 600

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
  /** Whether the latest voice has led to a final recognition. */
  hasFinal = false
  #hadPartial = false
  /** Values of {@link beganAt} and {@link endedAt} before the voice in progress. */
  #former: { readonly beganAt: number | undefined; readonly endedAt: number | undefined } | undefined
  /** Voiced time without recognition before {@link #countedFrom}, and the limit for it. */
  #silentMs = 0
  #countedFrom = 0
  #reviveMs = firstReviveMs

  /** Voice began. */
  begin(at: number): void {
    if (this.isVoiced) return
    this.isVoiced = true
    this.isNoise = false
    this.hasFinal = false
    this.#former = { beganAt: this.beganAt, endedAt: this.endedAt }
    this.beganAt = at
    this.#countedFrom = at
  }

  /** Voice ended. `isCounted`: whether words or a reaction are expected; default true. */
  end(at: number, isCounted = true): void {
    if (!this.isVoiced) return
    this.isVoiced = false
    this.isNoise = false
    this.endedAt = Math.max(at, this.beganAt ?? at)
    if (isCounted) this.#silentMs += Math.max(0, at - this.#countedFrom)
  }

  /** An engine that decides about turns has reacted. */
  noticed(now: number): void {
    this.#silentMs = 0
    this.#countedFrom = now
    this.#reviveMs = firstReviveMs
  }

  /** The voice in progress was none: the last voice is the one before it. */
  retract(): void {
    if (!this.isVoiced) return
    this.isVoiced = false
    this.isNoise = false
    this.beganAt = this.#former?.beganAt
    this.endedAt = this.#former?.endedAt
  }

  /** Nothing of the voice so far counts any more. */
  reset(): void {
    this.isVoiced = false
    this.isNoise = false
    this.beganAt = undefined
    this.endedAt = undefined
    this.#silentMs = 0
  }

  /** The recogniser gave words. */
  recognised(isFinal: boolean, now: number): void {
    this.isNoise = false
    this.noticed(now)
    if (isFinal) this.hasFinal = true
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

  /**
   * Time at which an engine that decides about turns has not reacted to the voice for too long. It may give
   * no sign of hearing before the voice has ended.
   */
  get unnoticedAt(): number | undefined {
    const isExpected = !this.isVoiced && this.#silentMs >= minSpeechMs
    return isExpected && this.endedAt !== undefined ? this.endedAt + this.#reviveMs : undefined
  }

  /** The recogniser is opened again: the next wait is twice as long. */
  revived(now: number): void {
    this.#silentMs = 0
    this.#countedFrom = now
    this.#reviveMs = Math.min(maxReviveMs, this.#reviveMs * 2)
    this.isNoise = this.isVoiced
  }
}
