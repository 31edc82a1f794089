/**
 * Maximum number of INVITEs of one leg, whatever its peers answer. It suffices for all targets of a carrier
 * with one challenge each. It also suffices for fewer targets with redirections, challenges and longer
 * session intervals.
 */
export const maxInvites = 32

/**
 * Counts the INVITEs of one leg: each place that is tried, and each repetition for a challenge, a 422, a 488
 * or a redirection.
 */
export class InviteBudget {
  #left: number

  /** `max` is the number of INVITEs; default {@link maxInvites}. */
  constructor(max: number = maxInvites) {
    this.#left = max
  }

  /** True once none is left: the last refusal is final. */
  get isSpent(): boolean {
    return this.#left === 0
  }

  /** Takes one INVITE. Returns false, and takes none, if none is left. */
  take(): boolean {
    if (this.isSpent) return false
    this.#left--
    return true
  }
}
