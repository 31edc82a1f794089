/**
 * Maximum number of INVITEs of one leg, for any responses of its peers. It suffices for all targets of a
 * carrier with one challenge each. It also suffices for fewer targets with redirections, challenges and
 * longer session intervals.
 */
export const maxInvites = 32

/**
 * Counts the INVITEs of one leg: one for each target, and one for each repetition after a challenge, a 422, a
 * 488 or a redirection.
 */
export class InviteBudget {
  #left: number

  /** `max` is the number of INVITEs; default {@link maxInvites}. */
  constructor(max: number = maxInvites) {
    this.#left = max
  }

  /** Whether no INVITE is left; the last rejection is final then. */
  get isSpent(): boolean {
    return this.#left === 0
  }

  /** Counts one INVITE. Returns false, and counts nothing, if the maximum is reached. */
  take(): boolean {
    if (this.isSpent) return false
    this.#left--
    return true
  }
}
