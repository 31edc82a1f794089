import type { TurnRules } from './turn-types.ts'

/** Long silences and the limits of a conversation. Times are uptimes in ms. */
export class Silences {
  /** Begin of the conversation. */
  readonly #startedAt: number
  /** Last sound that either side made, as far as the agent knows. */
  #soundAt: number
  /** Last turn of the caller. */
  #turnAt: number
  /** Wait for the caller before the agent speaks again; `until` undefined: without limit. */
  #gate: { readonly until: number | undefined } | undefined
  /** Whether the hard stop was carried out. */
  isStopped = false

  constructor(now: number, isWaiting: boolean) {
    this.#startedAt = now
    this.#soundAt = now
    this.#turnAt = now
    if (isWaiting) this.#gate = { until: undefined }
  }

  /** A side spoke, or the conversation goes on after a hold. */
  sound(now: number): void {
    this.#soundAt = now
  }

  /** The caller said or pressed something that counts. */
  turn(now: number): void {
    this.#turnAt = now
    this.#soundAt = now
    this.#gate = undefined
  }

  /** The agent waits for the caller, at most for a time. */
  wait(now: number, ms: number | undefined): void {
    this.#gate = { until: ms === undefined ? undefined : now + ms }
  }

  /** Hold has ended: its time does not count. */
  unhold(now: number): void {
    this.#soundAt = now
    this.#turnAt = now
  }

  /** The idle prompt was given: a wait for the caller is over. */
  prompted(now: number): void {
    this.#soundAt = now
    this.#gate = undefined
  }

  /** Time of the idle prompt, in silence of both sides. */
  attentionAt({ attentionMs }: TurnRules): number | undefined {
    if (this.#gate)
      return this.#gate.until === undefined ? undefined : Math.max(this.#gate.until, this.#soundAt)
    return attentionMs > 0 ? this.#soundAt + attentionMs : undefined
  }

  /** Time at which the conversation ends without a turn. */
  inactiveAt({ inactivityMs }: TurnRules): number | undefined {
    return inactivityMs > 0 ? this.#turnAt + inactivityMs : undefined
  }

  /** Time of the hard stop. */
  stopAt({ hardStopMs }: TurnRules): number | undefined {
    return this.isStopped || !hardStopMs ? undefined : this.#startedAt + hardStopMs
  }
}
