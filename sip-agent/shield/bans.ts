import { RecentMap } from './recent-map.ts'

/** Time in ms within which offences are counted. */
const windowMs = 60_000
/** Maximum number of senders with remembered offences, and of banned senders. */
const maxSenders = 10_000

/**
 * Banned senders, and the offences of senders that are not banned. Both lists are bounded, and every ban
 * expires.
 */
export class Bans {
  /** Banned senders with the end of their ban, in that order. */
  readonly #until = new Map<string, number>()
  readonly #offenses = new RecentMap<{ since: number; count: number }>(maxSenders)

  /** Returns the number of banned senders. */
  size(now: number): number {
    this.#sweep(now)
    return this.#until.size
  }

  has(sender: string, now: number): boolean {
    if (this.#until.size === 0) return false
    const until = this.#until.get(sender)
    if (until === undefined || until > now) return until !== undefined
    this.#until.delete(sender)
    return false
  }

  /** Counts one offence. After `after` offences within a minute, the sender is banned for `forMs`. */
  recordOffense(sender: string, now: number, { after, forMs }: { after: number; forMs: number }): void {
    let known = this.#offenses.get(sender)
    if (!known || now - known.since >= windowMs || now < known.since) {
      known = { since: now, count: 0 }
      this.#offenses.set(sender, known)
    }
    known.count++
    if (known.count < after) return
    this.#offenses.delete(sender)
    this.#sweep(now)
    // The ban that ends first makes room.
    if (this.#until.size >= maxSenders) this.#until.delete(this.#until.keys().next().value ?? '')
    this.#until.delete(sender)
    this.#until.set(sender, now + forMs)
  }

  #sweep(now: number): void {
    for (const [sender, until] of this.#until) {
      if (until > now) return
      this.#until.delete(sender)
    }
  }
}
